import Database
import ItemList
import Model
import TestSupport
import Testing
import Vault

@testable import Core

@Suite("An account's calendars as files")
struct CalendarFileTests {
    private func fill(_ fixture: AccountFixture, _ content: String) async throws {
        try await fixture.host.database.write { tx in
            let calendar = RecordKey("/ada/work/")
            try tx.records.put(Record(key: calendar, value: #"{"name":"Work"}"#), in: .calendars)
            let object = Record(key: RecordKey("/ada/work/1.ics"), content: Array(content.utf8))
            try tx.records.put(object, in: RecordCollection.calendars.of(calendar))
        }
    }

    @Test("A run writes what came; what programs changed the next one keeps beside, and says so until it is dismissed")
    func runs() async throws {
        try await AccountFixture.running { fixture in
            let file = fixture.bookmark.vault + "/calendars/Work/1.ics"
            try await fill(fixture, "first")
            try await fixture.runWell()
            #expect(try Files.text(file) == "first")
            try Files.write("changed here", to: file)
            let outcome = try await fixture.runBadly()
            #expect(outcome.failures.isEmpty && outcome.worst == .failed)
            #expect(try Files.text(file) == "first")
            let kept = fixture.bookmark.vault + "/calendars/Work/1 (changed here).ics"
            #expect(try Files.text(kept) == "changed here")
            let issue = try #require(outcome.issues.first)
            #expect(outcome.issues.count == 1 && issue.code == "calendar.changed")
            #expect(issue.message.contains("1.ics in \(fixture.bookmark.vault)/calendars/Work was changed here"))
            await #expect(throws: Failure.self) {
                try await fixture.host.perform(Issues.Answer(issue.id, choice: "other"))
            }
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "dismiss"))
            try await fixture.runWell()
            #expect(try Files.text(kept) == "changed here")
        }
    }

    @Test(
        "Files that cannot be written are an error of the run, which does all else; the database keeps what is to be written"
    )
    func inTheWay() async throws {
        try await AccountFixture.running { fixture in
            let folder = fixture.bookmark.vault + "/calendars"
            try Files.write("in the way", to: folder)
            fixture.put("/a", "a")
            try await fixture.pin("/a")
            try await fill(fixture, "first")
            let outcome = try await fixture.runBadly()
            #expect(outcome.failures.map(\.kind) == [.localIO] && outcome.files == 1, "\(outcome)")
            Files.remove(folder)
            try await fixture.runWell()
            #expect(try Files.text(folder + "/Work/1.ics") == "first")
        }
    }
}

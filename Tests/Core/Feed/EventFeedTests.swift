import Model
import TestSupport
import Testing
import Threads

@testable import Core
@testable import Database

/// Tests of the readers of a change feed, on a database of their own.
@Suite("Readers of a change feed", .timeLimit(.minutes(20)))
struct EventFeedTests {
    @Test("A reader waits all its time where commits have nothing to tell, and takes what one has")
    func quietCommits() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            let clock = TestClock()
            let feed = EventFeed(database, files: "/files", clock: clock.host)
            database.setCommitObserver { feed.hear($0) }
            @Sendable func file(_ message: String) async throws {
                let issue = Model.Issue(
                    code: "c", subject: "s", message: message, choices: [], created: Timestamp(seconds: 1))
                _ = try await database.write { try $0.issues.file(issue) }
            }
            try await file("one")
            let first = try await feed.reader(behind: nil)
            defer { first.end() }
            let reading = Task {
                var reader = first
                return (try await reader.next(within: .seconds(10)), reader)
            }
            await clock.untilSleeping(for: .seconds(10))
            clock.advance(.seconds(4))
            // The issue is what it was.
            try await file("one")
            await clock.untilSleeping(for: .seconds(6))
            clock.advance(.seconds(6))
            let (events, next) = try await reading.value
            #expect(events.isEmpty)
            let second = Task {
                var reader = next
                return try await reader.next(within: .seconds(10))
            }
            await clock.untilSleeping(for: .seconds(10))
            try await file("two")
            #expect(try await second.value.count == 1)
            try database.close()
        }
    }
}

import Database
import DemoServer
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("What another item displaces at its path, end to end")
struct DisplacedTests {
    private static let names = (0..<30).map { "/box/file \($0)" }

    /// Runs `body` with an account with thirty files in a folder, pinned and here, and five files beside that folder.
    private func withFullBox(
        settings: Settings = Settings(), isolation: isolated (any Actor)? = #isolation,
        _ body: (AccountFixture) async throws -> Void
    ) async throws {
        try await AccountFixture.running(settings: settings) { fixture in
            for name in Self.names { fixture.put(name, "old") }
            for number in 0..<5 { fixture.put("/kept/\(number)", "kept") }
            try await fixture.pin("/")
            try await fixture.runWell()
            try await body(fixture)
        }
    }

    private func makeAnew(_ fixture: AccountFixture, _ text: String = "a new file") {
        fixture.server.tree.remove("/box")
        for name in Self.names { fixture.put(name, text) }
    }

    private func held(_ fixture: AccountFixture, _ count: String) async throws -> Model.Issue {
        let issues = try await fixture.issues()
        #expect(issues.map(\.code) == ["list.removals"])
        let issue = try #require(issues.first)
        #expect(issue.message.contains(count), "\(issue.message)")
        return issue
    }

    @Test(
        "P56, P51: a folder made anew under another id is held with all below; its copies stay, and the new files wait")
    func folderAnew() async throws {
        try await withFullBox { fixture in
            let tree = try fixture.tree()
            makeAnew(fixture)
            for _ in 0..<2 {
                let outcome = try await fixture.runBadly()
                let issue = try await held(fixture, "31 of 37 items")
                #expect(fixture.downloads == [])
                #expect(try fixture.tree() == tree)
                for name in Self.names { #expect(try fixture.text(name) == "old") }
                let records = try await fixture.records()
                #expect(records.count == 30)
                #expect(records.allSatisfy { $0.wait == .issue(issue.id) })
                #expect(outcome.leftCount == 30)
                fixture.clock.advance(.seconds(3600))
            }
            let issue = try await held(fixture, "31 of 37 items")
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await fixture.runWell()
            #expect(fixture.downloads.count == 30)
            #expect(try fixture.tree() == tree)
            for name in Self.names { #expect(try fixture.text(name) == "a new file") }
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            for name in Self.names { #expect(try fixture.text(name) == "a new file") }
        }
    }

    @Test("P56: when what was displaced is back before it was decided, the issue goes, for no byte")
    func back() async throws {
        try await withFullBox { fixture in
            let before = try #require(try await fixture.item("/box/file 3"))
            let saved = fixture.server.tree.read { $0 }
            makeAnew(fixture)
            try await fixture.runBadly()
            _ = try await held(fixture, "31 of 37 items")
            fixture.server.tree.change { $0 = saved }
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            let after = try #require(try await fixture.item("/box/file 3"))
            #expect(after.localID == before.localID && after.copy == before.copy && after.cloudStatus == .localCopy)
            fixture.clock.advance(.seconds(3600))
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            for name in Self.names { #expect(try fixture.text(name) == "old") }
        }
    }

    @Test("P56: what lies deep in a displaced folder is back with it, though what has its old ETag is not listed again")
    func backDeep() async throws {
        try await AccountFixture.running { fixture in
            for number in 0..<30 { fixture.put("/box/deep/\(number)", "old") }
            for number in 0..<5 { fixture.put("/kept/\(number)", "kept") }
            try await fixture.pin("/")
            try await fixture.runWell()
            let saved = fixture.server.tree.read { $0 }
            fixture.server.tree.remove("/box")
            fixture.put("/box/new", "new")
            try await fixture.runBadly()
            _ = try await held(fixture, "32 of 39 items")
            fixture.server.tree.change { $0 = saved }
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            for number in 0..<30 {
                #expect(try await fixture.item("/box/deep/\(number)")?.cloudStatus == .localCopy, "\(number)")
                #expect(try fixture.text("/box/deep/\(number)") == "old")
            }
        }
    }

    @Test("P56: what does not come back with a displaced folder is still missing")
    func backInPart() async throws {
        try await withFullBox { fixture in
            let saved = fixture.server.tree.read { $0 }
            makeAnew(fixture)
            try await fixture.runBadly()
            fixture.server.tree.change { $0 = saved }
            for name in Self.names.prefix(25) { fixture.server.tree.remove(name) }
            try await fixture.runBadly()
            _ = try await held(fixture, "25 of")
            for name in Self.names { #expect(try fixture.text(name) == "old") }
        }
    }

    @Test("P56: a file where a folder was is held, and the folder's copies go in vacuum's time, before the file comes")
    func fileForFolder() async throws {
        try await withFullBox { fixture in
            let tree = try fixture.tree()
            fixture.server.tree.remove("/box")
            fixture.put("/box", "a file")
            try await fixture.runBadly()
            let issue = try await held(fixture, "31 of 37 items")
            #expect(try fixture.tree() == tree)
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "apply"))
            let outcome = try await fixture.runBadly()
            #expect(outcome.failures.map(\.message).contains { $0.contains("until vacuum removes it") })
            #expect(try await fixture.records().map(\.path.text) == ["/box"])
            #expect(try fixture.tree() == tree)
            #expect(fixture.downloads == [])
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try fixture.text("/box") == "a file")
        }
    }

    @Test(
        "P56: a person's file in a folder that became a file holds up the newcomer, but not vacuum of what was beside it"
    )
    func personsFileInTheWay() async throws {
        try await AccountFixture.running { fixture in
            for number in 0..<3 { fixture.put("/box/\(number)", "old") }
            try await fixture.pin("/")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/box/mine"))
            fixture.server.tree.remove("/box")
            fixture.put("/box", "a file")
            try await fixture.runBadly()
            #expect(try await fixture.issues().map(\.code) == ["download.place"])
            fixture.clock.advance(.seconds(61))
            try await fixture.runBadly()
            #expect(try fixture.tree() == ["/box/", "/box/mine"])
            #expect(try fixture.text("/box/mine") == "mine")
            #expect(try await fixture.records().map(\.path.text) == ["/box"])
            #expect(try await fixture.item("/box/0") == nil)

            Files.remove(fixture.local("/box/mine"))
            let issue = try #require(try await fixture.issues().first)
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "retry"))
            try await fixture.runWell()
            #expect(try fixture.text("/box") == "a file")
        }
    }

    @Test("P56: a folder where a file was comes when vacuum has removed the file's copy, with what is in it")
    func folderForFile() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/n", "file")
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.server.tree.remove("/a/n")
            fixture.put("/a/n/inner", "inner")
            fixture.server.tree.makeFolder("/a/n/empty")
            try await fixture.runBadly()
            #expect(try fixture.text("/a/n") == "file")
            #expect(fixture.downloads == [])
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/n/", "/a/n/empty/", "/a/n/inner"])
        }
    }

    @Test("P56: all ids change: nothing goes, and the share is of what there was, not of old and new together")
    func allIDs() async throws {
        try await withFullBox { fixture in
            makeAnew(fixture)
            fixture.server.tree.remove("/kept")
            for number in 0..<5 { fixture.put("/kept/\(number)", "kept anew") }
            for _ in 0..<2 {
                try await fixture.runBadly()
                _ = try await held(fixture, "37 of 37 items")
                #expect(try fixture.text("/kept/3") == "kept")
            }
        }
    }

    @Test("P56: a file that moves over another replaces its copy, for no byte; while that is not decided both stay")
    func movedOver() async throws {
        try await withFullBox { fixture in
            fixture.server.tree.remove("/kept/0")
            fixture.server.tree.move("/kept/1", to: "/kept/0")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(
                try fixture.tree().filter { $0.hasPrefix("/kept") } == [
                    "/kept/", "/kept/0", "/kept/2", "/kept/3", "/kept/4",
                ])

            for name in Self.names.dropLast() { fixture.server.tree.remove(name) }
            fixture.server.tree.remove("/kept/2")
            fixture.server.tree.move("/box/file 29", to: "/kept/2")
            try await fixture.runBadly()
            let issue = try await held(fixture, "30 of 37 items")
            #expect(try fixture.text("/box/file 29") == "old" && fixture.text("/kept/2") == "kept")
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try fixture.text("/kept/2") == "old")
        }
    }

    @Test("P56: two files that change places across folders keep their copies, whichever is listed first")
    func swapped() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/b/c/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.server.tree.move("/a/1", to: "/x")
            fixture.server.tree.move("/b/c/2", to: "/a/1")
            fixture.server.tree.move("/x", to: "/b/c/2")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try fixture.text("/a/1") == "/b/c/2" && fixture.text("/b/c/2") == "/a/1")
        }
    }

    @Test("P56, P43: the claimed copy of an item that is gone is not replaced by the next one at its path")
    func claimed() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.runWell()
            let item = try #require(try await fixture.item("/a/1"))
            let claim = Claim(id: ClaimID("c"), item: item.localID, kind: .delete, validity: .explicit)
            try await fixture.host.database.write { try $0.claims.add(claim) }
            fixture.server.tree.remove("/a/1")
            fixture.put("/a/1", "another")
            try await fixture.runBadly()
            #expect(try fixture.text("/a/1") == "one")
            try await fixture.host.database.write { try $0.claims.remove(ClaimID("c")) }
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "another")
        }
    }

    @Test("P57: what goes in several scans of a day counts together, but for what a person applied")
    func memory() async throws {
        try await withFullBox { fixture in
            for name in Self.names.prefix(15) { fixture.server.tree.remove(name) }
            try await fixture.runWell()
            fixture.clock.advance(.seconds(12 * 3600))
            try await fixture.restart()
            for name in Self.names.dropFirst(15).prefix(10) { fixture.server.tree.remove(name) }
            try await fixture.runBadly()
            var issue = try await held(fixture, "10 of 37 items")
            #expect(issue.message.contains("15 that were removed"))
            for name in Self.names.dropFirst(15).prefix(10) { #expect(try fixture.text(name) == "old") }
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await fixture.runWell()
            // Of the 37 items, 15 have gone and these 3, not counting the removals that the person applied.
            for name in Self.names.dropFirst(25).prefix(3) { fixture.server.tree.remove(name) }
            try await fixture.runWell()
            fixture.server.tree.remove(Self.names[28])
            fixture.server.tree.remove(Self.names[29])
            try await fixture.runBadly()
            issue = try await held(fixture, "2 of 37 items")
            // A day later the count of removals begins anew.
            fixture.clock.advance(.seconds(24 * 3600 + 60))
            try await fixture.runWell()
            #expect(try await fixture.item(Self.names[29]) == nil)
        }
    }

    @Test("P57: what had only moved from one scan to the next had not gone")
    func movedLate() async throws {
        try await withFullBox { fixture in
            let saved = fixture.server.tree.read { $0 }
            for name in Self.names.prefix(15) { fixture.server.tree.remove(name) }
            try await fixture.runWell()
            fixture.server.tree.change { $0 = saved }
            fixture.put("/kept/5", "more")
            try await fixture.runWell()
            for name in Self.names.prefix(18) { fixture.server.tree.remove(name) }
            try await fixture.runWell()
        }
    }

    @Test("P51: while removals are held, files that are not on the server are no issue each")
    func notFound() async throws {
        try await AccountFixture.running { fixture in
            for name in Self.names { fixture.put(name, "old") }
            for number in 0..<5 { fixture.put("/kept/\(number)", "kept") }
            try await fixture.runWell()
            fixture.server.tree.remove("/box")
            try await fixture.runBadly()
            _ = try await held(fixture, "31 of 37 items")
            try await fixture.pin("/")
            for _ in 0..<2 {
                try await fixture.runBadly()
                let issue = try await held(fixture, "31 of 37 items")
                #expect(try await fixture.records().allSatisfy { $0.wait == .issue(issue.id) })
                #expect(try await fixture.records().count == 30)
                #expect(try fixture.text("/kept/3") == "kept")
            }
            let issue = try #require(try await fixture.issues().first)
            try await fixture.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await fixture.runWell()
        }
    }
}

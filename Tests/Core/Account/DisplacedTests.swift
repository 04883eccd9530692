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

    /// Thirty files in a folder, pinned and here, and five beside it.
    private func withFullBox(
        settings: Settings = Settings(), isolation: isolated (any Actor)? = #isolation,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.running(settings: settings) { bench in
            for name in Self.names { bench.put(name, "old") }
            for number in 0..<5 { bench.put("/kept/\(number)", "kept") }
            try await bench.pin("/")
            try await bench.runWell()
            try await body(bench)
        }
    }

    private func makeAnew(_ bench: Bench, _ text: String = "a new file") {
        bench.server.tree.remove("/box")
        for name in Self.names { bench.put(name, text) }
    }

    private func held(_ bench: Bench, _ count: String) async throws -> Model.Issue {
        let issues = try await bench.issues()
        #expect(issues.map(\.code) == ["list.removals"])
        let issue = try #require(issues.first)
        #expect(issue.message.contains(count), "\(issue.message)")
        return issue
    }

    @Test(
        "P56, P51: a folder made anew under another id is held with all below; its copies stay, and the new files wait")
    func folderAnew() async throws {
        try await withFullBox { bench in
            let tree = try bench.tree()
            makeAnew(bench)
            for _ in 0..<2 {
                let outcome = try await bench.runBadly()
                let issue = try await held(bench, "31 of 37 items")
                #expect(bench.downloads == [])
                #expect(try bench.tree() == tree)
                for name in Self.names { #expect(try bench.text(name) == "old") }
                let records = try await bench.records()
                #expect(records.count == 30)
                #expect(records.allSatisfy { $0.wait == .issue(issue.id) })
                #expect(outcome.leftCount == 30)
                bench.clock.advance(.seconds(3600))
            }
            let issue = try await held(bench, "31 of 37 items")
            try await bench.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await bench.runWell()
            #expect(bench.downloads.count == 30)
            #expect(try bench.tree() == tree)
            for name in Self.names { #expect(try bench.text(name) == "a new file") }
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            for name in Self.names { #expect(try bench.text(name) == "a new file") }
        }
    }

    @Test("P56: when what was displaced is back before it was decided, the issue goes, for no byte")
    func back() async throws {
        try await withFullBox { bench in
            let before = try #require(try await bench.item("/box/file 3"))
            let saved = bench.server.tree.read { $0 }
            makeAnew(bench)
            try await bench.runBadly()
            _ = try await held(bench, "31 of 37 items")
            bench.server.tree.change { $0 = saved }
            try await bench.runWell()
            #expect(bench.downloads == [])
            let after = try #require(try await bench.item("/box/file 3"))
            #expect(after.localID == before.localID && after.copy == before.copy && after.cloudStatus == .localCopy)
            bench.clock.advance(.seconds(3600))
            try await bench.runWell()
            #expect(bench.downloads == [])
            for name in Self.names { #expect(try bench.text(name) == "old") }
        }
    }

    @Test("P56: what lies deep in a displaced folder is back with it, though what has its old ETag is not listed again")
    func backDeep() async throws {
        try await Bench.running { bench in
            for number in 0..<30 { bench.put("/box/deep/\(number)", "old") }
            for number in 0..<5 { bench.put("/kept/\(number)", "kept") }
            try await bench.pin("/")
            try await bench.runWell()
            let saved = bench.server.tree.read { $0 }
            bench.server.tree.remove("/box")
            bench.put("/box/new", "new")
            try await bench.runBadly()
            _ = try await held(bench, "32 of 39 items")
            bench.server.tree.change { $0 = saved }
            try await bench.runWell()
            #expect(bench.downloads == [])
            for number in 0..<30 {
                #expect(try await bench.item("/box/deep/\(number)")?.cloudStatus == .localCopy, "\(number)")
                #expect(try bench.text("/box/deep/\(number)") == "old")
            }
        }
    }

    @Test("P56: what does not come back with a displaced folder is still missing")
    func backInPart() async throws {
        try await withFullBox { bench in
            let saved = bench.server.tree.read { $0 }
            makeAnew(bench)
            try await bench.runBadly()
            bench.server.tree.change { $0 = saved }
            for name in Self.names.prefix(25) { bench.server.tree.remove(name) }
            try await bench.runBadly()
            _ = try await held(bench, "25 of")
            for name in Self.names { #expect(try bench.text(name) == "old") }
        }
    }

    @Test("P56: a file where a folder was is held, and the folder's copies go in vacuum's time, before the file comes")
    func fileForFolder() async throws {
        try await withFullBox { bench in
            let tree = try bench.tree()
            bench.server.tree.remove("/box")
            bench.put("/box", "a file")
            try await bench.runBadly()
            let issue = try await held(bench, "31 of 37 items")
            #expect(try bench.tree() == tree)
            try await bench.host.perform(Issues.Answer(issue.id, choice: "apply"))
            let outcome = try await bench.runBadly()
            #expect(outcome.failures.map(\.message).contains { $0.contains("until vacuum removes it") })
            #expect(try await bench.records().map(\.path.text) == ["/box"])
            #expect(try bench.tree() == tree)
            #expect(bench.downloads == [])
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try bench.text("/box") == "a file")
        }
    }

    @Test(
        "P56: a person's file in a folder that became a file holds up the newcomer, but not vacuum of what was beside it"
    )
    func personsFileInTheWay() async throws {
        try await Bench.running { bench in
            for number in 0..<3 { bench.put("/box/\(number)", "old") }
            try await bench.pin("/")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/box/mine"))
            bench.server.tree.remove("/box")
            bench.put("/box", "a file")
            try await bench.runBadly()
            #expect(try await bench.issues().map(\.code) == ["download.place"])
            bench.clock.advance(.seconds(61))
            try await bench.runBadly()
            #expect(try bench.tree() == ["/box/", "/box/mine"])
            #expect(try bench.text("/box/mine") == "mine")
            #expect(try await bench.records().map(\.path.text) == ["/box"])
            #expect(try await bench.item("/box/0") == nil)

            Files.remove(bench.local("/box/mine"))
            let issue = try #require(try await bench.issues().first)
            try await bench.host.perform(Issues.Answer(issue.id, choice: "retry"))
            try await bench.runWell()
            #expect(try bench.text("/box") == "a file")
        }
    }

    @Test("P56: a folder where a file was comes when vacuum has removed the file's copy, with what is in it")
    func folderForFile() async throws {
        try await Bench.running { bench in
            bench.put("/a/n", "file")
            try await bench.pin("/")
            try await bench.runWell()
            bench.server.tree.remove("/a/n")
            bench.put("/a/n/inner", "inner")
            bench.server.tree.makeFolder("/a/n/empty")
            try await bench.runBadly()
            #expect(try bench.text("/a/n") == "file")
            #expect(bench.downloads == [])
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try bench.tree() == ["/a/", "/a/n/", "/a/n/empty/", "/a/n/inner"])
        }
    }

    @Test("P56: all ids change: nothing goes, and the share is of what there was, not of old and new together")
    func allIDs() async throws {
        try await withFullBox { bench in
            makeAnew(bench)
            bench.server.tree.remove("/kept")
            for number in 0..<5 { bench.put("/kept/\(number)", "kept anew") }
            for _ in 0..<2 {
                try await bench.runBadly()
                _ = try await held(bench, "37 of 37 items")
                #expect(try bench.text("/kept/3") == "kept")
            }
        }
    }

    @Test("P56: a file that moves over another replaces its copy, for no byte; while that is not decided both stay")
    func movedOver() async throws {
        try await withFullBox { bench in
            bench.server.tree.remove("/kept/0")
            bench.server.tree.move("/kept/1", to: "/kept/0")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(
                try bench.tree().filter { $0.hasPrefix("/kept") } == [
                    "/kept/", "/kept/0", "/kept/2", "/kept/3", "/kept/4",
                ])

            for name in Self.names.dropLast() { bench.server.tree.remove(name) }
            bench.server.tree.remove("/kept/2")
            bench.server.tree.move("/box/file 29", to: "/kept/2")
            try await bench.runBadly()
            let issue = try await held(bench, "30 of 37 items")
            #expect(try bench.text("/box/file 29") == "old" && bench.text("/kept/2") == "kept")
            try await bench.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try bench.text("/kept/2") == "old")
        }
    }

    @Test("P56: two files that change places across folders keep their copies, whichever is listed first")
    func swapped() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/b/c/2"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            bench.server.tree.move("/a/1", to: "/x")
            bench.server.tree.move("/b/c/2", to: "/a/1")
            bench.server.tree.move("/x", to: "/b/c/2")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try bench.text("/a/1") == "/b/c/2" && bench.text("/b/c/2") == "/a/1")
        }
    }

    @Test("P56, P43: the claimed copy of an item that is gone is not replaced by the next one at its path")
    func claimed() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/a")
            try await bench.runWell()
            let item = try #require(try await bench.item("/a/1"))
            let claim = Claim(id: ClaimID("c"), item: item.localID, kind: .delete, validity: .explicit)
            try await bench.host.database.write { try $0.claims.add(claim) }
            bench.server.tree.remove("/a/1")
            bench.put("/a/1", "another")
            try await bench.runBadly()
            #expect(try bench.text("/a/1") == "one")
            try await bench.host.database.write { try $0.claims.remove(ClaimID("c")) }
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try bench.text("/a/1") == "another")
        }
    }

    @Test("P57: what goes in several scans of a day counts together, but for what a person applied")
    func memory() async throws {
        try await withFullBox { bench in
            for name in Self.names.prefix(15) { bench.server.tree.remove(name) }
            try await bench.runWell()
            bench.clock.advance(.seconds(12 * 3600))
            try await bench.restart()
            for name in Self.names.dropFirst(15).prefix(10) { bench.server.tree.remove(name) }
            try await bench.runBadly()
            var issue = try await held(bench, "10 of 37 items")
            #expect(issue.message.contains("15 that went"))
            for name in Self.names.dropFirst(15).prefix(10) { #expect(try bench.text(name) == "old") }
            try await bench.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await bench.runWell()
            // 15 and 4 of 37.
            for name in Self.names.dropFirst(25).prefix(3) { bench.server.tree.remove(name) }
            try await bench.runWell()
            bench.server.tree.remove(Self.names[28])
            bench.server.tree.remove(Self.names[29])
            try await bench.runBadly()
            issue = try await held(bench, "2 of 37 items")
            // A day later it is a day's beginning.
            bench.clock.advance(.seconds(24 * 3600 + 60))
            try await bench.runWell()
            #expect(try await bench.item(Self.names[29]) == nil)
        }
    }

    @Test("P57: what had only moved from one scan to the next had not gone")
    func movedLate() async throws {
        try await withFullBox { bench in
            let saved = bench.server.tree.read { $0 }
            for name in Self.names.prefix(15) { bench.server.tree.remove(name) }
            try await bench.runWell()
            bench.server.tree.change { $0 = saved }
            bench.put("/kept/5", "more")
            try await bench.runWell()
            for name in Self.names.prefix(18) { bench.server.tree.remove(name) }
            try await bench.runWell()
        }
    }

    @Test("P51: while removals are held, files that are not on the server are no issue each")
    func notFound() async throws {
        try await Bench.running { bench in
            for name in Self.names { bench.put(name, "old") }
            for number in 0..<5 { bench.put("/kept/\(number)", "kept") }
            try await bench.runWell()
            bench.server.tree.remove("/box")
            try await bench.runBadly()
            _ = try await held(bench, "31 of 37 items")
            try await bench.pin("/")
            for _ in 0..<2 {
                try await bench.runBadly()
                let issue = try await held(bench, "31 of 37 items")
                #expect(try await bench.records().allSatisfy { $0.wait == .issue(issue.id) })
                #expect(try await bench.records().count == 30)
                #expect(try bench.text("/kept/3") == "kept")
            }
            let issue = try #require(try await bench.issues().first)
            try await bench.host.perform(Issues.Answer(issue.id, choice: "apply"))
            try await bench.runWell()
        }
    }
}

import Database
import DemoServer
import Glibc
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Newer versions and other items at a path, end to end")
struct ReplacingTests {
    @Test("P28: the old copy can be read until the new one is complete, and stays when the network goes meanwhile")
    func noGap() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "old")
            try await fixture.pin("/a")
            try await fixture.runWell()

            fixture.put("/a/1", String(repeating: "new", count: 100_000))
            fixture.server.add(Fault(.cutOff(afterBytes: 50_000), method: "GET", path: "/a/1", times: 1))
            fixture.server.add(Fault(.status(503), method: "GET", path: "/a/1", from: 2))
            try await fixture.runBadly()
            #expect(try fixture.text("/a/1") == "old")
            #expect(try await fixture.item("/a/1")?.remoteVersion == .newer)
            fixture.server.removeFaults()
            for issue in try await fixture.issues() {
                try await fixture.host.perform(Issues.Answer(issue.id, choice: "retry"))
            }
            try await fixture.runWell()
            #expect(try fixture.text("/a/1").hasPrefix("newnew"))
            #expect(fixture.server.requests.contains { $0.range != nil })
        }
    }

    @Test("P28, S15: while a newer version is on its way the old one is whole, then the new one is")
    func whileOnTheWay() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "old")
            try await fixture.pin("/a")
            try await fixture.runWell()
            let new = String(repeating: "new", count: 100_000)
            fixture.put("/a/1", new)
            let hold = fixture.server.add(Fault(.hold(afterBytes: 50_000), method: "GET", path: "/a/1"))
            let host = try await fixture.ready()
            async let run = host.runOnce()
            await fixture.server.untilHeld(hold)
            #expect(try fixture.text("/a/1") == "old")
            fixture.server.remove(hold)
            #expect(await run.worst == nil)
            #expect(try fixture.text("/a/1") == new)
        }
    }

    @Test("I9: a scan that finds another version while one is on its way leaves the work and what is here alone")
    func scannedOnTheWay() async throws {
        try await AccountFixture.running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { fixture in
            fixture.put("/a/1", "old")
            try await fixture.pin("/a")
            try await fixture.runWell()
            fixture.put("/a/1", String(repeating: "new", count: 100_000))
            let hold = fixture.server.add(Fault(.hold(afterBytes: 50_000), method: "GET", path: "/a/1", times: 1))
            try await fixture.hosting {
                await fixture.server.untilHeld(hold)
                await fixture.clock.untilScanned()
                let (before, records) = (try #require(try await fixture.item("/a/1")), try await fixture.records())
                #expect(records.count == 1 && before.syncActivity == .downloading)
                fixture.put("/a/1", "newest")
                fixture.clock.scan()
                await fixture.clock.untilScanned()
                let after = try #require(try await fixture.item("/a/1"))
                #expect(after.etag != before.etag)
                #expect(try await fixture.records().map(\.id) == records.map(\.id))
                #expect(after.cloudStatus == .localCopy && after.copy == before.copy)
                #expect(after.syncActivity == .downloading)
                #expect(try fixture.text("/a/1") == "old")
                fixture.server.remove(hold)
                try await fixture.until { try fixture.text("/a/1") == "newest" }
            }
        }
    }

    @Test("P44: a file that was changed here is neither replaced by a newer version nor removed with its item")
    func modifiedStays() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "old")
            fixture.put("/a/2", "two")
            try await fixture.pin("/a")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/a/1"))
            try Files.write("mine too", to: fixture.local("/a/2"))
            fixture.put("/a/1", "new")
            fixture.server.tree.remove("/a/2")
            try await fixture.run()
            #expect(try fixture.text("/a/1") == "mine")
            #expect(try fixture.text("/a/2") == "mine too")
            #expect(try await fixture.item("/a/1")?.cloudStatus == .locallyModified)
            try await fixture.unpin("/a")
            try await fixture.run()
            #expect(try fixture.text("/a/1") == "mine")
            #expect(try fixture.text("/a/2") == "mine too")
        }
    }

    @Test("I7: the unmodified copy of an item that is gone makes way for another item at its path")
    func replaced() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.runWell()
            let first = try #require(try await fixture.item("/a/1")?.localID)
            fixture.server.tree.remove("/a/1")
            fixture.put("/a/1", "another")
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "another")
            #expect(try await fixture.item("/a/1")?.localID != first)
            let former = try await fixture.host.database.read { try $0.items.item(localID: first) }
            #expect(former?.isRemoved == true && former?.copy == nil)
        }
    }

    @Test("I7: an item with the same content at the path of one that is gone takes its copy over")
    func replacedByTheSame() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/a")
            try await fixture.runWell()
            let first = try #require(try await fixture.item("/a/1")?.localID)
            fixture.server.tree.remove("/a/1")
            fixture.put("/a/1", "one")
            try await fixture.runWell()
            #expect(try await fixture.item("/a/1")?.cloudStatus == .localCopy)
            let former = try await fixture.host.database.read { try $0.items.item(localID: first) }
            #expect(former?.copy == nil)
        }
    }

    @Test(
        "I7, P56: a file becomes a folder, with files below, and a file again, each when vacuum has removed what was there"
    )
    func fileAndFolder() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/n", "file")
            try await fixture.pin("/a")
            try await fixture.runWell()
            fixture.server.tree.remove("/a/n")
            fixture.put("/a/n/deep/inner", "inner")
            fixture.server.tree.makeFolder("/a/n/empty")
            try await fixture.runBadly()
            #expect(try fixture.text("/a/n") == "file")
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/n/", "/a/n/deep/", "/a/n/deep/inner", "/a/n/empty/"])
            fixture.server.tree.remove("/a/n")
            fixture.put("/a/n", "file again")
            try await fixture.runBadly()
            #expect(try fixture.text("/a/n/deep/inner") == "inner")
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/a/n"])
            #expect(try fixture.text("/a/n") == "file again")
        }
    }

    @Test("I7: what was changed below a folder that became a file stays, and the file is an issue")
    func modifiedBelow() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/n/inner", "inner")
            fixture.put("/a/n/other", "other")
            try await fixture.pin("/a")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/a/n/inner"))
            fixture.server.tree.remove("/a/n")
            fixture.put("/a/n", "file")
            try await fixture.runBadly()
            #expect(try fixture.text("/a/n/inner") == "mine")
            #expect(try await fixture.issues().map(\.subject) == ["/a/n"])
        }
    }

    @Test("P17: a person's file where an item should be stays as it is")
    func fileInTheWay() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "theirs")
            fixture.put("/b/c/2", "theirs")
            try Files.write("mine", to: fixture.local("/a/1"))
            try Files.write("mine", to: fixture.local("/b"))
            try await fixture.pin("/")
            try await fixture.runBadly()
            #expect(try fixture.text("/a/1") == "mine")
            #expect(try fixture.text("/b") == "mine")
            #expect(try await fixture.item("/a/1")?.cloudStatus == .locallyModified)
            #expect(try await fixture.issues().map(\.subject).contains("/b"))
        }
    }

    @Test("P17: nothing is written through a symbolic link, which is an issue")
    func linkInTheWay() async throws {
        try await withTemporaryFolder { outside in
            try await AccountFixture.running { fixture in
                fixture.put("/a/1", "theirs")
                fixture.put("/b", "theirs")
                try Files.write("mine", to: "\(outside)/target")
                #expect(symlink(outside, fixture.local("/a")) == 0)
                #expect(symlink("\(outside)/target", fixture.local("/b")) == 0)
                try await fixture.pin("/")
                try await fixture.runBadly()
                #expect(try Files.names(in: outside) == ["target"])
                #expect(try Files.text("\(outside)/target") == "mine")
                #expect(Set(try await fixture.issues().map(\.subject)).isSuperset(of: ["/a", "/b"]))
            }
        }
    }
}

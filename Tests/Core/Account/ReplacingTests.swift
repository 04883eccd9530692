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
        try await Bench.running { bench in
            bench.put("/a/1", "old")
            try await bench.pin("/a")
            try await bench.runWell()

            bench.put("/a/1", String(repeating: "new", count: 100_000))
            bench.server.add(Fault(.cutOff(afterBytes: 50_000), method: "GET", path: "/a/1", times: 1))
            bench.server.add(Fault(.status(503), method: "GET", path: "/a/1", from: 2))
            try await bench.runBadly()
            #expect(try bench.text("/a/1") == "old")
            #expect(try await bench.item("/a/1")?.remoteVersion == .newer)
            bench.server.removeFaults()
            for issue in try await bench.issues() {
                try await bench.host.perform(Issues.Answer(issue.id, choice: "retry"))
            }
            try await bench.runWell()
            #expect(try bench.text("/a/1").hasPrefix("newnew"))
            #expect(bench.server.requests.contains { $0.range != nil })
        }
    }

    @Test("P28, S15: while a newer version is on its way the old one is whole, then the new one is")
    func whileOnTheWay() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "old")
            try await bench.pin("/a")
            try await bench.runWell()
            let new = String(repeating: "new", count: 100_000)
            bench.put("/a/1", new)
            let hold = bench.server.add(Fault(.hold(afterBytes: 50_000), method: "GET", path: "/a/1"))
            let host = try await bench.ready()
            async let run = host.runOnce()
            await bench.server.untilHeld(hold)
            #expect(try bench.text("/a/1") == "old")
            bench.server.remove(hold)
            #expect(await run.worst == nil)
            #expect(try bench.text("/a/1") == new)
        }
    }

    @Test("I9: a scan that finds another version while one is on its way leaves the work and what is here alone")
    func scannedOnTheWay() async throws {
        try await Bench.running(settings: Settings(poll: TestClock.poll, walk: TestClock.poll)) { bench in
            bench.put("/a/1", "old")
            try await bench.pin("/a")
            try await bench.runWell()
            bench.put("/a/1", String(repeating: "new", count: 100_000))
            let hold = bench.server.add(Fault(.hold(afterBytes: 50_000), method: "GET", path: "/a/1", times: 1))
            try await bench.hosting {
                await bench.server.untilHeld(hold)
                await bench.clock.untilScanned()
                let (before, records) = (try #require(try await bench.item("/a/1")), try await bench.records())
                #expect(records.count == 1 && before.syncActivity == .downloading)
                bench.put("/a/1", "newest")
                bench.clock.scan()
                await bench.clock.untilScanned()
                let after = try #require(try await bench.item("/a/1"))
                #expect(after.etag != before.etag)
                #expect(try await bench.records().map(\.id) == records.map(\.id))
                #expect(after.cloudStatus == .localCopy && after.copy == before.copy)
                #expect(after.syncActivity == .downloading)
                #expect(try bench.text("/a/1") == "old")
                bench.server.remove(hold)
                try await bench.until { try bench.text("/a/1") == "newest" }
            }
        }
    }

    @Test("P44: a file that was changed here is neither replaced by a newer version nor removed with its item")
    func modifiedStays() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "old")
            bench.put("/a/2", "two")
            try await bench.pin("/a")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/a/1"))
            try Files.write("mine too", to: bench.local("/a/2"))
            bench.put("/a/1", "new")
            bench.server.tree.remove("/a/2")
            try await bench.run()
            #expect(try bench.text("/a/1") == "mine")
            #expect(try bench.text("/a/2") == "mine too")
            #expect(try await bench.item("/a/1")?.cloudStatus == .locallyModified)
            try await bench.unpin("/a")
            try await bench.run()
            #expect(try bench.text("/a/1") == "mine")
            #expect(try bench.text("/a/2") == "mine too")
        }
    }

    @Test("I7: the unmodified copy of an item that is gone makes way for another item at its path")
    func replaced() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/a")
            try await bench.runWell()
            let first = try #require(try await bench.item("/a/1")?.localID)
            bench.server.tree.remove("/a/1")
            bench.put("/a/1", "another")
            try await bench.runWell()
            #expect(try bench.text("/a/1") == "another")
            #expect(try await bench.item("/a/1")?.localID != first)
            let former = try await bench.host.database.read { try $0.items.item(localID: first) }
            #expect(former?.isRemoved == true && former?.copy == nil)
        }
    }

    @Test("I7: an item with the same content at the path of one that is gone takes its copy over")
    func replacedByTheSame() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            try await bench.pin("/a")
            try await bench.runWell()
            let first = try #require(try await bench.item("/a/1")?.localID)
            bench.server.tree.remove("/a/1")
            bench.put("/a/1", "one")
            try await bench.runWell()
            #expect(try await bench.item("/a/1")?.cloudStatus == .localCopy)
            let former = try await bench.host.database.read { try $0.items.item(localID: first) }
            #expect(former?.copy == nil)
        }
    }

    @Test(
        "I7, P56: a file becomes a folder, with files below, and a file again, each when vacuum has removed what was there"
    )
    func fileAndFolder() async throws {
        try await Bench.running { bench in
            bench.put("/a/n", "file")
            try await bench.pin("/a")
            try await bench.runWell()
            bench.server.tree.remove("/a/n")
            bench.put("/a/n/deep/inner", "inner")
            bench.server.tree.makeFolder("/a/n/empty")
            try await bench.runBadly()
            #expect(try bench.text("/a/n") == "file")
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try bench.tree() == ["/a/", "/a/n/", "/a/n/deep/", "/a/n/deep/inner", "/a/n/empty/"])
            bench.server.tree.remove("/a/n")
            bench.put("/a/n", "file again")
            try await bench.runBadly()
            #expect(try bench.text("/a/n/deep/inner") == "inner")
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try bench.tree() == ["/a/", "/a/n"])
            #expect(try bench.text("/a/n") == "file again")
        }
    }

    @Test("I7: what was changed below a folder that became a file stays, and the file is an issue")
    func modifiedBelow() async throws {
        try await Bench.running { bench in
            bench.put("/a/n/inner", "inner")
            bench.put("/a/n/other", "other")
            try await bench.pin("/a")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/a/n/inner"))
            bench.server.tree.remove("/a/n")
            bench.put("/a/n", "file")
            try await bench.runBadly()
            #expect(try bench.text("/a/n/inner") == "mine")
            #expect(try await bench.issues().map(\.subject) == ["/a/n"])
        }
    }

    @Test("P17: a person's file where an item should be stays as it is")
    func fileInTheWay() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "theirs")
            bench.put("/b/c/2", "theirs")
            try Files.write("mine", to: bench.local("/a/1"))
            try Files.write("mine", to: bench.local("/b"))
            try await bench.pin("/")
            try await bench.runBadly()
            #expect(try bench.text("/a/1") == "mine")
            #expect(try bench.text("/b") == "mine")
            #expect(try await bench.item("/a/1")?.cloudStatus == .locallyModified)
            #expect(try await bench.issues().map(\.subject).contains("/b"))
        }
    }

    @Test("P17: nothing is written through a symbolic link, which is an issue")
    func linkInTheWay() async throws {
        try await withTemporaryFolder { outside in
            try await Bench.running { bench in
                bench.put("/a/1", "theirs")
                bench.put("/b", "theirs")
                try Files.write("mine", to: "\(outside)/target")
                #expect(symlink(outside, bench.local("/a")) == 0)
                #expect(symlink("\(outside)/target", bench.local("/b")) == 0)
                try await bench.pin("/")
                try await bench.runBadly()
                #expect(try Files.names(in: outside) == ["target"])
                #expect(try Files.text("\(outside)/target") == "mine")
                #expect(Set(try await bench.issues().map(\.subject)).isSuperset(of: ["/a", "/b"]))
            }
        }
    }
}

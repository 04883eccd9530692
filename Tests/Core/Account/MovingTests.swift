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

@Suite("Moves on the server, end to end")
struct MovingTests {
    @Test("P22, I5: a pinned folder that moves takes its pin and its copies along, for no byte")
    func pinnedFolder() async throws {
        try await Bench.running { bench in
            for path in ["/a/b/1", "/a/b/c/2", "/z/9"] { bench.put(path, path) }
            bench.server.tree.makeFolder("/a/b/empty")
            try await bench.pin("/a/b")
            try await bench.runWell()
            let before = try #require(try await bench.item("/a/b/c/2"))

            bench.server.tree.move("/a/b", to: "/z/new")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(
                try bench.tree().filter { $0.hasPrefix("/z") } == [
                    "/z/", "/z/new/", "/z/new/1", "/z/new/c/", "/z/new/c/2", "/z/new/empty/",
                ])
            #expect(!Files.exists(bench.local("/a/b")))
            let policy = try #require(try await bench.policies().first)
            #expect(policy.path?.text == "/z/new")
            let after = try #require(try await bench.item("/z/new/c/2"))
            #expect(after.localID == before.localID && after.lastUsed == before.lastUsed)
            #expect(after.cloudStatus == .localCopy)

            // The pin is at work where it is now.
            bench.put("/z/new/3", "three")
            try await bench.runWell()
            #expect(bench.downloads == ["/z/new/3"])
        }
    }

    @Test(
        "P22: a pinned folder that moves during a scan into a folder that was listed by then keeps its pin and its copies"
    )
    func movedMeanwhile() async throws {
        try await Bench.running { bench in
            for path in ["/a/b/1", "/z/y/p/2", "/z/y/3"] { bench.put(path, path) }
            try await bench.pin("/z/y/p")
            try await bench.runWell()
            // Something new on the way to both.
            for path in ["/a/b/4", "/z/y/5"] { bench.put(path, path) }
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", path: "/z", times: 1))
            let host = try await bench.ready()
            async let run = host.runOnce()
            while !bench.listings.contains("/a/b") { await Task.yield() }
            bench.server.tree.move("/z/y/p", to: "/a/p")
            bench.server.remove(hold)
            #expect(await run.worst == nil)
            #expect(try await bench.policies().map { $0.path?.text } == ["/a/p"])
            #expect(bench.downloads == [])
            #expect(try bench.text("/a/p/2") == "/z/y/p/2")
        }
    }

    @Test(
        "P22: a folder that moves while the one below it is being listed takes that along, with its pin and its copies")
    func movedAboveTheListedOne() async throws {
        try await Bench.running { bench in
            for path in ["/a/e/x/1", "/a/e/x/2", "/a/d/3"] { bench.put(path, path) }
            try await bench.pin("/a/e/x")
            try await bench.runWell()
            bench.put("/a/e/x/new", "new")
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", path: "/a/e/x", times: 1))
            let host = try await bench.ready()
            async let run = host.runOnce()
            await bench.server.untilHeld(hold)
            bench.server.tree.move("/a/e", to: "/a/q")
            bench.server.remove(hold)
            _ = await run
            bench.clock.advance(.seconds(61))
            try await bench.runWell()
            #expect(try await bench.policies().map { $0.path?.text } == ["/a/q/x"])
            #expect(bench.downloads == ["/a/q/x/new"])
            #expect(try bench.text("/a/q/x/1") == "/a/e/x/1")
            #expect(try bench.text("/a/q/x/new") == "new")
        }
    }

    @Test("P22, I6: a folder above a pinned one is renamed: no byte, and no listing of what is below")
    func parentRenamed() async throws {
        try await Bench.running { bench in
            for path in ["/a/b/1", "/a/b/c/2"] { bench.put(path, path) }
            try await bench.pin("/a/b")
            try await bench.runWell()
            bench.server.tree.move("/a", to: "/n")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(bench.listings == ["/", "/"])
            #expect(try bench.tree() == ["/n/", "/n/b/", "/n/b/1", "/n/b/c/", "/n/b/c/2"])
            #expect(try await bench.policies().map { $0.path?.text } == ["/n/b"])
        }
    }

    @Test("P24: a pinned file is followed wherever it goes, for no byte")
    func pinnedFile() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            bench.put("/b/2", "two")
            try await bench.pin("/a/1")
            try await bench.runWell()
            bench.server.tree.move("/a/1", to: "/b/renamed")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try bench.tree().filter { !$0.hasSuffix("/") } == ["/b/renamed"])
            bench.put("/b/renamed", "one, again")
            try await bench.runWell()
            #expect(try bench.text("/b/renamed") == "one, again")
        }
    }

    @Test("I5: two files that change places, in one folder and across folders, keep their copies for no byte")
    func filesChangePlaces() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/2", "/b/3"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            let one = try #require(try await bench.item("/a/1")?.localID)
            bench.exchange("/a/1", "/a/2")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try bench.text("/a/1") == "/a/2")
            #expect(try bench.text("/a/2") == "/a/1")
            #expect(try await bench.item("/a/2")?.localID == one)
            bench.exchange("/a/2", "/b/3")
            try await bench.runWell()
            #expect(try bench.text("/a/2") == "/b/3")
            #expect(try bench.text("/b/3") == "/a/1")
            #expect(try await bench.item("/b/3")?.localID == one)
            #expect(try bench.tree() == ["/a/", "/a/1", "/a/2", "/b/", "/b/3"])
        }
    }

    @Test(
        "I5: of two files that change places none takes the other's content along, when their folders are listed far apart"
    )
    func filesChangePlacesSlowly() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/b/2"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            let other = try await bench.item("/b/2")?.etag
            bench.exchange("/a/1", "/b/2")
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", path: "/b"))
            let host = try await bench.ready()
            let run = Task { await host.runOnce() }
            await bench.server.untilHeld(hold)
            while try await bench.item("/a/1")?.etag != other { await Task.yield() }
            bench.server.remove(hold)
            let outcome = await run.value
            #expect(outcome.failures.map(\.message) == [] && outcome.leftCount == 0)
            #expect(try bench.text("/a/1") == "/b/2" && bench.text("/b/2") == "/a/1")
        }
    }

    @Test("I5: a move that is left after a crash leaves alone what came to the old path meanwhile")
    func leftMove() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/b/2"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            bench.exchange("/a/1", "/b/2")
            // As a crash leaves it: both rows have moved, the first one's file went and the second one's came.
            let now = bench.clock.now
            try await bench.host.database.write { tx in
                let (a, b) = (ItemPath(unchecked: "/a/1"), ItemPath(unchecked: "/b/2"))
                let one = try #require(try tx.items.scanRow(at: a))
                let two = try #require(try tx.items.scanRow(at: b))
                try tx.scan.noteMissing(one.databaseID)
                try tx.scan.removeMissing(at: now)
                for (row, path) in [(two, a), (try #require(try tx.items.scanRow(databaseID: one.databaseID)), b)] {
                    let fileID = try #require(row.fileID)
                    let entry = ListedItem(
                        path: path, kind: .file, fileID: fileID, etag: row.etag, size: row.size,
                        lastModified: row.lastModified)
                    try tx.scan.move(row, to: entry, fileID: fileID, racy: .no, placeIsTaken: false)
                }
                try tx.moves.remove(try #require(try tx.moves.all().first).id)
            }
            Files.remove(bench.local("/a/1"))
            rename(bench.local("/b/2"), bench.local("/a/1"))
            try await bench.restart()
            try await bench.runWell()
            #expect(try bench.text("/a/1") == "/b/2" && bench.text("/b/2") == "/a/1")
            #expect(bench.downloads == ["/b/2"])
        }
    }

    @Test("I6: two folders that change places take what is in them along, for no byte")
    func foldersChangePlaces() async throws {
        try await Bench.running { bench in
            for path in ["/p/1", "/p/deep/2", "/q/3"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            bench.exchange("/p", "/q")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try bench.tree() == ["/p/", "/p/3", "/q/", "/q/1", "/q/deep/", "/q/deep/2"])
            #expect(try bench.text("/q/deep/2") == "/p/deep/2")
        }
    }

    @Test(
        "I6: a folder that moves to where a person has made one goes into it, file by file, and leaves nothing behind")
    func folderIntoFolder() async throws {
        try await Bench.running { bench in
            for path in ["/a/1", "/a/deep/2"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/b/mine"))
            bench.server.tree.move("/a", to: "/b")
            try await bench.runWell()
            #expect(bench.downloads == [])
            #expect(try bench.tree() == ["/b/", "/b/1", "/b/deep/", "/b/deep/2", "/b/mine"])
            #expect(try bench.text("/b/mine") == "mine")
        }
    }

    @Test("I6: folders without copies that move to where a person has made one leave nothing behind either")
    func emptyFolders() async throws {
        try await Bench.running { bench in
            bench.put("/a/deep/deeper/1", "one")
            try await bench.pin("/")
            try await bench.runWell()
            // Its folders stay, as they are while it is still to come.
            Files.remove(bench.local("/a/deep/deeper/1"))
            bench.server.tree.move("/a", to: "/b")
            let hold = bench.server.add(Fault(.hold(), method: "PROPFIND", path: "/"))
            let host = try await bench.ready()
            let run = Task { await host.runOnce() }
            await bench.server.untilHeld(hold)
            try Files.write("mine", to: bench.local("/b/deep/mine"))
            bench.server.remove(hold)
            #expect(await run.value.failures.map(\.message) == [])
            #expect(
                try bench.tree() == ["/b/", "/b/deep/", "/b/deep/deeper/", "/b/deep/deeper/1", "/b/deep/mine"])
            #expect(try bench.text("/b/deep/mine") == "mine")
        }
    }

    @Test("I5: a file that was changed here goes along when its item moves, as it is")
    func modifiedMoves() async throws {
        try await Bench.running { bench in
            bench.put("/a/1", "one")
            bench.put("/b/2", "two")
            try await bench.pin("/")
            try await bench.runWell()
            try Files.write("mine", to: bench.local("/a/1"))
            bench.server.tree.move("/a/1", to: "/b/1")
            try await bench.run()
            #expect(try bench.text("/b/1") == "mine")
            #expect(!Files.exists(bench.local("/a/1")))
        }
    }

    @Test("P58: a move onto the claimed copy of an item that is gone leaves that where it is, until the claim is over")
    func ontoClaimed() async throws {
        try await Bench.running { bench in
            for path in ["/a", "/b"] { bench.put(path, path) }
            try await bench.pin("/")
            try await bench.runWell()
            let gone = try #require(try await bench.item("/a"))
            let claim = Claim(item: gone.localID, kind: .read, validity: .explicit)
            try await bench.host.database.write { try $0.claims.add(claim) }
            bench.server.tree.remove("/a")
            bench.server.tree.move("/b", to: "/a")
            for _ in 0..<2 {
                let outcome = try await bench.run()
                // What is gone waits for the claim's end; the moved one waits where it was.
                #expect(outcome.left.allSatisfy { $0.path.text == "/a" } && outcome.issues == [])
                #expect(try bench.text("/a") == "/a")
                #expect(try bench.text("/b") == "/b")
                bench.clock.advance(.seconds(120))
            }
            try await bench.host.database.write { try $0.claims.remove(claim.id) }
            bench.clock.advance(.seconds(60))
            try await bench.runWell()
            #expect(try bench.text("/a") == "/b")
            #expect(try bench.tree() == ["/a"])
            #expect(bench.downloads == [])
        }
    }
}

extension Bench {
    /// Two items of the server's change places.
    func exchange(_ a: String, _ b: String) {
        server.tree.move(a, to: "/in between")
        server.tree.move(b, to: a)
        server.tree.move("/in between", to: b)
    }
}

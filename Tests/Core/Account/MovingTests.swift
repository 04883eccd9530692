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
        try await AccountFixture.running { fixture in
            for path in ["/a/b/1", "/a/b/c/2", "/z/9"] { fixture.put(path, path) }
            fixture.server.tree.makeFolder("/a/b/empty")
            try await fixture.pin("/a/b")
            try await fixture.runWell()
            let before = try #require(try await fixture.item("/a/b/c/2"))

            fixture.server.tree.move("/a/b", to: "/z/new")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(
                try fixture.tree().filter { $0.hasPrefix("/z") } == [
                    "/z/", "/z/new/", "/z/new/1", "/z/new/c/", "/z/new/c/2", "/z/new/empty/",
                ])
            #expect(!Files.exists(fixture.local("/a/b")))
            let policy = try #require(try await fixture.policies().first)
            #expect(policy.path?.text == "/z/new")
            let after = try #require(try await fixture.item("/z/new/c/2"))
            #expect(after.localID == before.localID && after.lastUsed == before.lastUsed)
            #expect(after.cloudStatus == .localCopy)

            // The pin applies at the folder's new path.
            fixture.put("/z/new/3", "three")
            try await fixture.runWell()
            #expect(fixture.downloads == ["/z/new/3"])
        }
    }

    @Test(
        "P22: a pinned folder that moves during a scan into a folder that was listed by then keeps its pin and its copies"
    )
    func movedMeanwhile() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/b/1", "/z/y/p/2", "/z/y/3"] { fixture.put(path, path) }
            try await fixture.pin("/z/y/p")
            try await fixture.runWell()
            // A new file in each of the two folders makes the scan list both.
            for path in ["/a/b/4", "/z/y/5"] { fixture.put(path, path) }
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/z", times: 1))
            let host = try await fixture.ready()
            async let run = host.runOnce()
            await until { fixture.listings.contains("/a/b") }
            fixture.server.tree.move("/z/y/p", to: "/a/p")
            fixture.server.remove(hold)
            #expect(await run.worst == nil)
            #expect(try await fixture.policies().map { $0.path?.text } == ["/a/p"])
            #expect(fixture.downloads == [])
            #expect(try fixture.text("/a/p/2") == "/z/y/p/2")
        }
    }

    @Test(
        "P22: a folder that moves while the one below it is being listed takes that along, with its pin and its copies")
    func movedAboveTheListedOne() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/e/x/1", "/a/e/x/2", "/a/d/3"] { fixture.put(path, path) }
            try await fixture.pin("/a/e/x")
            try await fixture.runWell()
            fixture.put("/a/e/x/new", "new")
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/a/e/x", times: 1))
            let host = try await fixture.ready()
            async let run = host.runOnce()
            await fixture.server.untilHeld(hold)
            fixture.server.tree.move("/a/e", to: "/a/q")
            fixture.server.remove(hold)
            _ = await run
            fixture.clock.advance(.seconds(61))
            try await fixture.runWell()
            #expect(try await fixture.policies().map { $0.path?.text } == ["/a/q/x"])
            #expect(fixture.downloads == ["/a/q/x/new"])
            #expect(try fixture.text("/a/q/x/1") == "/a/e/x/1")
            #expect(try fixture.text("/a/q/x/new") == "new")
        }
    }

    @Test("P22, I6: a folder above a pinned one is renamed: no byte, and no listing of what is below")
    func parentRenamed() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/b/1", "/a/b/c/2"] { fixture.put(path, path) }
            try await fixture.pin("/a/b")
            try await fixture.runWell()
            fixture.server.tree.move("/a", to: "/n")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(fixture.listings == ["/", "/"])
            #expect(try fixture.tree() == ["/n/", "/n/b/", "/n/b/1", "/n/b/c/", "/n/b/c/2"])
            #expect(try await fixture.policies().map { $0.path?.text } == ["/n/b"])
        }
    }

    @Test("I17: one id at two places is two items, each with its copy, however the second place comes to be")
    func twoPlaces() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/group/a", "/direct/a", "/origin/y"] { fixture.put(path, "the same") }
            func share(_ path: String, as original: String) {
                guard let id = fixture.server.tree.id(of: path), let shared = fixture.server.tree.id(of: original)
                else {
                    return
                }
                // It is one item, which has one version.
                let tags = [path, original].map { fixture.server.tree.node(at: TreePath($0))?.tag ?? "" }
                fixture.server.behave { manner in
                    manner.sharedIDs[id] = shared
                    manner.sharedTags[tags[0]] = tags[1]
                }
            }
            for path in ["", "/a"] { share("/direct" + path, as: "/group" + path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            #expect(try ["/group/a", "/direct/a"].allSatisfy { try fixture.text($0) == "the same" })
            let first = try #require(try await fixture.item("/group/a"))
            // An item moves to two places.
            fixture.server.tree.move("/origin/y", to: "/group/y")
            fixture.put("/direct/y", "the same")
            share("/direct/y", as: "/group/y")
            try await fixture.runWell()
            #expect(fixture.downloads.count == 1)
            #expect(try ["/group/y", "/direct/y"].allSatisfy { try fixture.text($0) == "the same" })
            // Another place comes while the first is unchanged.
            fixture.put("/later/a", "the same")
            share("/later/a", as: "/group/a")
            try await fixture.runWell()
            #expect(fixture.downloads == ["/later/a"])
            #expect(fixture.listings.sorted() == ["/", "/", "/direct", "/group", "/later"])
            #expect(try await fixture.item("/group/a")?.localID == first.localID)
            try await fixture.runWell()
            #expect(fixture.listings == ["/"] && fixture.downloads == [])
            // One goes, and takes nothing from the others.
            fixture.server.tree.remove("/group")
            try await fixture.runWell()
            #expect(try ["/later/a", "/direct/a", "/direct/y"].allSatisfy { try fixture.text($0) == "the same" })
            #expect(fixture.downloads == [])
        }
    }

    @Test("P24: a pinned file is followed wherever it goes, for no byte")
    func pinnedFile() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            fixture.put("/b/2", "two")
            try await fixture.pin("/a/1")
            try await fixture.runWell()
            fixture.server.tree.move("/a/1", to: "/b/renamed")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try fixture.tree().filter { !$0.hasSuffix("/") } == ["/b/renamed"])
            fixture.put("/b/renamed", "one, again")
            try await fixture.runWell()
            #expect(try fixture.text("/b/renamed") == "one, again")
        }
    }

    @Test("I5: two files that change places, in one folder and across folders, keep their copies for no byte")
    func filesChangePlaces() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/2", "/b/3"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            let one = try #require(try await fixture.item("/a/1")?.localID)
            fixture.exchange("/a/1", "/a/2")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try fixture.text("/a/1") == "/a/2")
            #expect(try fixture.text("/a/2") == "/a/1")
            #expect(try await fixture.item("/a/2")?.localID == one)
            fixture.exchange("/a/2", "/b/3")
            try await fixture.runWell()
            #expect(try fixture.text("/a/2") == "/b/3")
            #expect(try fixture.text("/b/3") == "/a/1")
            #expect(try await fixture.item("/b/3")?.localID == one)
            #expect(try fixture.tree() == ["/a/", "/a/1", "/a/2", "/b/", "/b/3"])
        }
    }

    @Test(
        "I5: of two files that change places none takes the other's content along, when their folders are listed far apart"
    )
    func filesChangePlacesSlowly() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/b/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.exchange("/a/1", "/b/2")
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/b"))
            let host = try await fixture.ready()
            let run = Task { await host.runOnce() }
            await fixture.server.untilHeld(hold)
            // What /a shows waits for the listing of /b, in which the item may still be.
            await until { fixture.listings.contains("/a") }
            fixture.server.remove(hold)
            let outcome = await run.value
            #expect(outcome.failures.map(\.message) == [] && outcome.leftCount == 0)
            #expect(try fixture.text("/a/1") == "/b/2" && fixture.text("/b/2") == "/a/1")
        }
    }

    @Test("I5: a move that is left after a crash leaves alone what came to the old path meanwhile")
    func leftMove() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/b/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.exchange("/a/1", "/b/2")
            // This is the state after a crash: both rows have moved, the first item's file is removed, and the second
            // item's file has arrived in its place.
            let now = fixture.clock.now
            try await fixture.host.database.write { tx in
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
                    try tx.scan.move(row, to: entry, fileID: fileID, racy: .no, placeTakenBy: nil)
                }
                try tx.moves.remove(try #require(try tx.moves.all().first).id)
            }
            Files.remove(fixture.local("/a/1"))
            rename(fixture.local("/b/2"), fixture.local("/a/1"))
            try await fixture.restart()
            try await fixture.runWell()
            #expect(try fixture.text("/a/1") == "/b/2" && fixture.text("/b/2") == "/a/1")
            #expect(fixture.downloads == ["/b/2"])
        }
    }

    @Test("I6: two folders that change places take what is in them along, for no byte")
    func foldersChangePlaces() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/p/1", "/p/deep/2", "/q/3"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            fixture.exchange("/p", "/q")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try fixture.tree() == ["/p/", "/p/3", "/q/", "/q/1", "/q/deep/", "/q/deep/2"])
            #expect(try fixture.text("/q/deep/2") == "/p/deep/2")
        }
    }

    @Test(
        "I6: a folder that moves to where a person has made one goes into it, file by file, and leaves nothing behind")
    func folderIntoFolder() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/deep/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/b/mine"))
            fixture.server.tree.move("/a", to: "/b")
            try await fixture.runWell()
            #expect(fixture.downloads == [])
            #expect(try fixture.tree() == ["/b/", "/b/1", "/b/deep/", "/b/deep/2", "/b/mine"])
            #expect(try fixture.text("/b/mine") == "mine")
        }
    }

    @Test("I6: folders without copies that move to where a person has made one leave nothing behind either")
    func emptyFolders() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/deep/deeper/1", "one")
            try await fixture.pin("/")
            try await fixture.runWell()
            // The folders of the removed file stay, as they do while a file is still to come.
            Files.remove(fixture.local("/a/deep/deeper/1"))
            fixture.server.tree.move("/a", to: "/b")
            let hold = fixture.server.add(Fault(.hold(), method: "PROPFIND", path: "/"))
            let host = try await fixture.ready()
            let run = Task { await host.runOnce() }
            await fixture.server.untilHeld(hold)
            try Files.write("mine", to: fixture.local("/b/deep/mine"))
            fixture.server.remove(hold)
            #expect(await run.value.failures.map(\.message) == [])
            #expect(
                try fixture.tree() == ["/b/", "/b/deep/", "/b/deep/deeper/", "/b/deep/deeper/1", "/b/deep/mine"])
            #expect(try fixture.text("/b/deep/mine") == "mine")
        }
    }

    @Test(
        "I6: nor do they leave anything where the person's file is known before the listing",
        arguments: ["/b/mine", "/b/deep/mine", "/b/deep/deeper/mine"])
    func emptyFoldersMet(mine: String) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/deep/deeper/1", "one")
            try await fixture.pin("/")
            try await fixture.runWell()
            Files.remove(fixture.local("/a/deep/deeper/1"))
            fixture.server.tree.move("/a", to: "/b")
            try Files.write("mine", to: fixture.local(mine))
            try await fixture.runWell()
            let expected = ["/b/", "/b/deep/", "/b/deep/deeper/", "/b/deep/deeper/1", mine]
            #expect(try fixture.tree() == expected.sorted())
            #expect(try fixture.text(mine) == "mine")
        }
    }

    @Test(
        "I6: of the folders that moved to where a person has made some, those stay in which a person's file is left",
        arguments: [
            ("/a/mine", "/b/deep/deeper/other", "/a/mine"), ("/a/deep/mine", "/b/deep/deeper/other", "/a/deep/mine"),
            ("/a/deep/deeper/mine", "/b/deep/deeper/other", "/a/deep/deeper/mine"),
            ("/a/deep/mine", "/b/deep/other", "/a/deep/mine"), ("/a/deep/mine", "/b/other", "/b/deep/mine"),
        ], [true, false])
    func leftFile(_ files: (mine: String, other: String, stays: String), isKnown: Bool) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/deep/deeper/1", "one")
            try await fixture.pin("/")
            try await fixture.runWell()
            if isKnown {
                try Files.write("mine", to: fixture.local(files.mine))
                try await fixture.runWell()
            }
            Files.remove(fixture.local("/a/deep/deeper/1"))
            fixture.server.tree.move("/a", to: "/b")
            if !isKnown { try Files.write("mine", to: fixture.local(files.mine)) }
            try Files.write("other", to: fixture.local(files.other))
            try await fixture.runWell()
            let folders = ItemPath(unchecked: files.stays).foldersAbove.map { $0 + "/" }
            let moved = ["/b/", "/b/deep/", "/b/deep/deeper/", "/b/deep/deeper/1", files.other, files.stays]
            #expect(try fixture.tree() == Set(moved + folders).sorted())
            #expect(try fixture.text(files.stays) == "mine" && fixture.text(files.other) == "other")
        }
    }

    @Test("I6: a folder with copies and one without move to where a person has made both, and leave nothing behind")
    func fullAndEmptyFolder() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/full/1", "/a/empty/2"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            Files.remove(fixture.local("/a/empty/2"))
            fixture.server.tree.move("/a", to: "/b")
            for path in ["/b/full/mine", "/b/empty/mine"] { try Files.write("mine", to: fixture.local(path)) }
            try await fixture.runWell()
            let files = ["/b/empty/2", "/b/empty/mine", "/b/full/1", "/b/full/mine"]
            #expect(try fixture.tree() == (["/b/", "/b/empty/", "/b/full/"] + files).sorted())
        }
    }

    @Test("I6: a claimed empty folder stays where it was when the server has it where a person has made one")
    func claimedFolder() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            try await fixture.pin("/")
            try await fixture.runWell()
            let folder = try #require(try await fixture.item("/a"))
            let claim = Claim(item: folder.localID, kind: .read, validity: .explicit)
            try await fixture.host.database.write { try $0.claims.add(claim) }
            Files.remove(fixture.local("/a/1"))
            fixture.server.tree.move("/a", to: "/b")
            try Files.write("mine", to: fixture.local("/b/mine"))
            try await fixture.runWell()
            #expect(try fixture.tree() == ["/a/", "/b/", "/b/1", "/b/mine"])
        }
    }

    @Test("I5: a file that was changed here goes along when its item moves, as it is")
    func modifiedMoves() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a/1", "one")
            fixture.put("/b/2", "two")
            try await fixture.pin("/")
            try await fixture.runWell()
            try Files.write("mine", to: fixture.local("/a/1"))
            fixture.server.tree.move("/a/1", to: "/b/1")
            try await fixture.run()
            #expect(try fixture.text("/b/1") == "mine")
            #expect(!Files.exists(fixture.local("/a/1")))
        }
    }

    @Test("P58: a move onto the claimed copy of an item that is gone leaves that where it is, until the claim is over")
    func ontoClaimed() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a", "/b"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            let gone = try #require(try await fixture.item("/a"))
            let claim = Claim(item: gone.localID, kind: .read, validity: .explicit)
            try await fixture.host.database.write { try $0.claims.add(claim) }
            fixture.server.tree.remove("/a")
            fixture.server.tree.move("/b", to: "/a")
            for _ in 0..<2 {
                let outcome = try await fixture.run()
                // The removed item waits for the claim's end. The moved item waits at its old path.
                #expect(outcome.left.allSatisfy { $0.path.text == "/a" } && outcome.issues == [])
                #expect(try fixture.text("/a") == "/a")
                #expect(try fixture.text("/b") == "/b")
                fixture.clock.advance(.seconds(120))
            }
            try await fixture.host.database.write { try $0.claims.remove(claim.id) }
            fixture.clock.advance(.seconds(60))
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "/b")
            #expect(try fixture.tree() == ["/a"])
            #expect(fixture.downloads == [])
        }
    }
}

extension AccountFixture {
    /// Exchanges two items on the server.
    func exchange(_ a: String, _ b: String) {
        server.tree.move(a, to: "/in between")
        server.tree.move(b, to: a)
        server.tree.move("/in between", to: b)
    }
}

extension ItemPath {
    fileprivate var foldersAbove: [String] {
        var folders: [String] = []
        var folder = parent
        while !folder.isRoot {
            folders.append(folder.text)
            folder = folder.parent
        }
        return folders
    }
}

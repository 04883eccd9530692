import Glibc
import Logging
import Model
import TestSupport
import Testing
import Vault

@testable import Database
@testable import LocalTree
@testable import SyncEngine

/// Tests of moves in the tree that collide with each other.
struct TreeMoverTests {
    @Test("What a person has in a folder that made way for another item is in the tree again, not left in `incoming/`")
    func folderThatMadeWay() async throws {
        try await EngineFixture.with { fixture in
            // The server has moved the folder /b to /c and the file /a to /b. A person's folder lies at /c.
            let file = try await fixture.addFile("/b", "from a")
            let folder = try await fixture.addFolder("/c")
            try fixture.write("from a", to: "/a")
            try fixture.write("mine", to: "/b/mine")
            try fixture.write("mine too", to: "/c/other")
            try await fixture.database.write { tx in
                var file = file
                file.cloudStatus = .locallyModified
                try tx.items.updateLocal(file)
                try tx.moves.add(file.localID, from: ItemPath(unchecked: "/a"), to: file.path)
                try tx.moves.add(folder.localID, from: ItemPath(unchecked: "/b"), to: folder.path)
            }
            try await mover(fixture).carryOut()
            #expect(try fixture.text("/b") == "from a" && fixture.text("/c/other") == "mine too")
            #expect(try fixture.incoming() == [])
            #expect(try fixture.text("/b.larder-kept-1/mine") == "mine")
            #expect(try await fixture.database.read { try $0.moves.isEmpty })
        }
    }

    @Test("What moves out of a folder leaves no empty one, unless the folder is kept here for its own sake")
    func emptiedFolders() async throws {
        try await EngineFixture.with { fixture in
            _ = try await fixture.addFolder("/passed")
            var kept = try await fixture.addFolder("/kept")
            kept.cloudStatus = .localCopy
            for (name, folder) in [("a", "passed"), ("b", "kept")] {
                let file = try await fixture.addFile("/\(name)", name)
                try fixture.write(name, to: "/\(folder)/\(name)")
                try await fixture.database.write { [kept] tx in
                    var file = file
                    file.cloudStatus = .locallyModified
                    try tx.items.updateLocal(file)
                    try tx.items.updateLocal(kept)
                    try tx.moves.add(file.localID, from: ItemPath(unchecked: "/\(folder)/\(name)"), to: file.path)
                }
            }
            try await mover(fixture).carryOut()
            #expect(try fixture.text("/a") == "a" && fixture.text("/b") == "b")
            #expect(!Files.exists(fixture.tree.localPath(of: ItemPath(unchecked: "/passed"))))
            #expect(Files.isFolder(fixture.tree.localPath(of: ItemPath(unchecked: "/kept"))))
        }
    }

    @Test("S24: the folder that a copy left just before a crash is removed when the journal is carried out again")
    func emptiedBeforeCrash() async throws {
        try await EngineFixture.with { fixture in
            _ = try await fixture.addFolder("/passed")
            let file = try await fixture.addFile("/a", "a")
            try fixture.write("a", to: "/a")
            let folder = fixture.tree.localPath(of: ItemPath(unchecked: "/passed"))
            #expect(mkdir(folder, 0o755) == 0)
            try await fixture.database.write { tx in
                try tx.moves.add(file.localID, from: ItemPath(unchecked: "/passed/a"), to: file.path)
            }
            try await mover(fixture).carryOut()
            #expect(!Files.exists(folder))
            #expect(try fixture.text("/a") == "a")
        }
    }

    @Test("S24: a copy that was moved just before a crash, which the database does not know, is no person's change")
    func movedBeforeCrash() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/b", "content")
            try await fixture.ask(.download, file, for: .user)
            #expect(try await fixture.drain().isDone)
            // A rename changes the times of the file, so that its recorded looks are no proof.
            let path = fixture.tree.localPath(of: file.path)
            #expect(rename(path, path + "x") == 0 && rename(path + "x", path) == 0)
            try await fixture.database.write { tx in
                try tx.moves.add(file.localID, from: ItemPath(unchecked: "/a"), to: file.path)
            }
            try await mover(fixture).carryOut()
            #expect(try Reconciler(database: fixture.database, tree: fixture.tree).run() == [])
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
            #expect(try await fixture.database.read { try $0.moves.isEmpty })

            // What is not there either is not here any more.
            #expect(unlink(path) == 0)
            try await fixture.database.write { tx in
                try tx.moves.add(file.localID, from: ItemPath(unchecked: "/a"), to: file.path)
            }
            try await mover(fixture).carryOut()
            #expect(try await fixture.now(file).cloudStatus == .cloudOnly)
        }
    }

    @Test("S24: a copy that has two moves to make goes on with the second after a crash in the first")
    func movedTwice() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/c", "content")
            try await fixture.ask(.download, file, for: .user)
            #expect(try await fixture.drain().isDone)
            // The first move was made, and the database does not know it.
            let path = fixture.tree.localPath(of: file.path)
            let between = fixture.tree.localPath(of: ItemPath(unchecked: "/b"))
            #expect(rename(path, between) == 0)
            try await fixture.database.write { tx in
                try tx.moves.add(file.localID, from: ItemPath(unchecked: "/a"), to: ItemPath(unchecked: "/b"))
                try tx.moves.add(file.localID, from: ItemPath(unchecked: "/b"), to: file.path)
            }
            try await mover(fixture).carryOut()
            #expect(try Reconciler(database: fixture.database, tree: fixture.tree).run() == [])
            let now = try await fixture.now(file)
            #expect(now.cloudStatus == .localCopy && now.downloadTrigger == .user)
            #expect(try fixture.text("/c") == "content" && fixture.incoming().isEmpty)
        }
    }

    @Test("P46: a copy that is gone from the server goes though a move waits for just that, and the move is made then")
    func waitsForPurge() async throws {
        try await EngineFixture.with { fixture in
            // The server has removed the folder /b, and moved the file /a there.
            let old = try await gone(fixture, "/b/x")
            try await move(try await copy(fixture, "/a", "mine"), to: "/b", fixture)
            // It has removed the file /f too, and moved the folder /d there, in which a file was removed.
            let file = try await gone(fixture, "/f")
            var folder = try await fixture.addFolder("/d")
            folder.cloudStatus = .localCopy
            _ = try await fixture.database.write { [folder] in try $0.items.updateLocal(folder) }
            let (inside, stays) = (try await gone(fixture, "/d/gone"), try await copy(fixture, "/d/y", "stays"))
            try await move(folder, to: "/f", fixture)
            for (item, path) in [(inside, "/f/gone"), (stays, "/f/y")] { try await set(path, of: item, fixture) }
            try await mover(fixture).carryOut()
            #expect(try await fixture.database.read { try $0.moves.all().count } == 2)

            // What is moved together with its folder is not at its new path yet.
            let there = try await fixture.now(inside)
            #expect(try await fixture.database.read { try $0.moves.isToCome(ofRemoved: there) })
            for item in [old, file] { try await fixture.ask(.purge, item) }
            #expect(try await fixture.drain().isDone)
            for item in [old, file] {
                #expect(try await fixture.database.read { try $0.items.item(localID: item.localID) } == nil)
            }
            #expect(try fixture.text("/b/x") == nil && fixture.text("/f") == nil)
            try await mover(fixture).carryOut()
            #expect(try fixture.text("/b") == "mine")
            #expect(try fixture.text("/f/y") == "stays" && fixture.text("/f/gone") == "old")
            #expect(try await fixture.database.read { try $0.moves.isEmpty })
        }
    }

    @Test("S24: a file takes the place of the folder that it lay in, once nothing that is removed is in it any more")
    func placeOfOwnFolder() async throws {
        try await EngineFixture.with { fixture in
            // The server has moved the file /b/s/x to /b, in whose place a folder was, and the file /b/y to /y.
            var folders = [try await fixture.addFolder("/b"), try await fixture.addFolder("/b/s")]
            folders.append(try await fixture.addFolder("/b/empty"))
            let (file, other) = (try await copy(fixture, "/b/s/x", "mine"), try await copy(fixture, "/b/y", "other"))
            let old = try await gone(fixture, "/b/old")
            try Files.makeFolder(fixture.tree.localPath(of: ItemPath(unchecked: "/b/empty")))
            try await fixture.database.write { [folders] tx in
                for var folder in folders {
                    folder.cloudStatus = .localCopy
                    try tx.items.updateLocal(folder)
                    _ = try tx.scan.noteMissing(folder.databaseID)
                }
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            try await move(file, to: "/b", fixture)
            try await move(other, to: "/y", fixture)
            try await mover(fixture).carryOut()
            #expect(try fixture.text("/b/s/x") == "mine" && fixture.text("/b/old") == "old")
            #expect(try fixture.incoming() == [])

            try await fixture.ask(.purge, old)
            #expect(try await fixture.drain().isDone)
            try await mover(fixture).carryOut()
            #expect(try fixture.text("/b") == "mine" && fixture.text("/y") == "other")
            #expect(try fixture.incoming() == [])
            #expect(try await fixture.database.read { try $0.moves.isEmpty })
            for folder in folders { try await fixture.ask(.purge, folder) }
            #expect(try await fixture.drain().isDone && fixture.text("/b") == "mine")
            let found = try Reconciler(database: fixture.database, tree: fixture.tree).run()
            #expect(found == [])
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
        }
    }

    @Test("S24: a file takes the place of a folder that others leave for places of their own")
    func placeOfLeftFolder() async throws {
        try await EngineFixture.with { fixture in
            // The server has moved the file /b/d to /d, and the file /c to /b, in whose place a folder was.
            let (old, inTheWay) = (try await gone(fixture, "/b/a"), try await gone(fixture, "/d/x"))
            let (file, other) = (try await copy(fixture, "/c", "mine"), try await copy(fixture, "/b/d", "other"))
            var folder = try await fixture.addFolder("/b")
            folder.cloudStatus = .localCopy
            try await fixture.database.write { [folder] tx in
                try tx.items.updateLocal(folder)
                _ = try tx.scan.noteMissing(folder.databaseID)
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            try await move(file, to: "/b", fixture)
            try await move(other, to: "/d", fixture)
            try await fixture.ask(.purge, old)
            #expect(try await fixture.drain().isDone)
            try await mover(fixture).carryOut()
            #expect(try fixture.text("/c") == "mine" && fixture.text("/b/d") == "other")

            try await fixture.ask(.purge, inTheWay)
            #expect(try await fixture.drain().isDone)
            try await mover(fixture).carryOut()
            #expect(try fixture.text("/b") == "mine" && fixture.text("/d") == "other")
            #expect(try fixture.incoming() == [])
            #expect(try await fixture.database.read { try $0.moves.isEmpty })
        }
    }

    /// Makes a file that has a copy.
    private func copy(_ fixture: EngineFixture, _ path: String, _ text: String) async throws -> Item {
        let file = try await fixture.addFile(path, text)
        try await fixture.ask(.download, file)
        #expect(try await fixture.drain().isDone)
        return try await fixture.now(file)
    }

    /// Makes a file that has a copy and is gone from the server.
    private func gone(_ fixture: EngineFixture, _ path: String) async throws -> Item {
        let file = try await copy(fixture, path, "old")
        try await fixture.database.write { tx in
            _ = try tx.scan.noteMissing(file.databaseID)
            try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
        }
        return try await fixture.now(file)
    }

    private func set(_ path: String, of item: Item, _ fixture: EngineFixture) async throws {
        try await fixture.database.write { try $0.items.setPath(ItemPath(unchecked: path), of: item.databaseID) }
    }

    /// Has the item at another path, where its copy is still to be moved.
    private func move(_ item: Item, to path: String, _ fixture: EngineFixture) async throws {
        try await set(path, of: item, fixture)
        try await fixture.database.write { tx in
            try tx.moves.add(item.localID, from: item.path, to: ItemPath(unchecked: path))
        }
    }

    private func mover(_ fixture: EngineFixture) -> TreeMover {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return TreeMover(database: fixture.database, tree: fixture.tree, engine: fixture.engine, logger: logger)
    }
}

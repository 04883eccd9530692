import GRDB
import Glibc
import Model
import TestSupport
import Testing
import TreeFixture

@testable import Database
@testable import LocalTree
@testable import Vault

@Suite struct ReconcilerTests {
    /// A tree and its database, with a few copies in place.
    private struct Fixture {
        let tree: TreeFixture
        let database: AccountDatabase
        var reconciler: Reconciler { Reconciler(database: database, tree: tree.tree) }

        /// Puts a copy in place and writes its row, as the sync engine does.
        func fetch(_ path: String, _ content: String, isProof: Bool = true) throws {
            let copy = try tree.place(content, at: path)
            var item = fileItem(path)
            item.fileID = FileID(path)
            item.etag = copy.etag
            item.cloudStatus = .localCopy
            item.copy = isProof ? tree.settled(copy) : copy
            item.downloadTrigger = .availableOffline
            item.lastUsed = .now()
            try database.writeBlocking { [item] tx in _ = try tx.items.insert(item) }
        }

        func item(_ path: String) throws -> Item? {
            try database.readBlocking { try $0.items.item(at: ItemPath(unchecked: path)) }
        }

        func findings(at scope: String = "/") throws -> [String: TreeFinding.Kind] {
            let found = try reconciler.run(at: ItemPath(unchecked: scope)) ?? []
            return Dictionary(uniqueKeysWithValues: found.map { ($0.path.text, $0.kind) })
        }
    }

    private func with(_ body: (Fixture) throws -> Void) throws {
        try TreeFixture.with { tree in
            let database = try AccountDatabase.open(path: tree.incoming + "/../larder.db")
            try body(Fixture(tree: tree, database: database))
        }
    }

    @Test("An undisturbed tree is found unchanged, and a second look reads nothing that the first settled")
    func unchanged() throws {
        try with { fixture in
            try fixture.fetch("/a/b", "one")
            try fixture.fetch("/a/c", "two", isProof: false)
            try fixture.database.writeBlocking { tx in
                for path in ["/a", "/cloud"] { try tx.items.insert(folderItem(path)) }
            }
            let before = try fixture.database.readBlocking { try $0.meta.integer(.anchor) }
            #expect(try fixture.findings().isEmpty)
            #expect(try fixture.findings().isEmpty)
            #expect(try fixture.database.readBlocking { try $0.meta.integer(.anchor) } == before)
            // The copy was put in place a moment ago. The reconciler renewed its mark without reporting a change.
            let renewed = try fixture.item("/a/c")?.copy?.mark
            #expect(
                renewed?.matches(fixture.tree.tree.mark(at: ItemPath(unchecked: "/a/c")) ?? mark(inode: 0)) == true)
        }
    }

    @Test("What was removed, changed, made and moved by hand is found, and nothing in the tree is touched")
    func byHand() throws {
        try with { fixture in
            for path in ["/removed", "/changed", "/grown", "/touched", "/moved", "/folder/x"] {
                try fixture.fetch(path, path)
            }
            let root = fixture.tree.root
            Files.remove(root + "/removed")
            try Files.write("/CHANGED", to: root + "/changed")
            try Files.write("/grown and grown", to: root + "/grown")
            utimensat(AT_FDCWD, root + "/touched", nil, 0)
            rename(root + "/moved", root + "/elsewhere")
            Files.remove(root + "/folder")
            try Files.write("n", to: root + "/new/er")
            symlink("/etc/passwd", root + "/link")
            let before = try Files.filesBelow(root)

            #expect(
                try fixture.findings() == [
                    "/removed": .removed, "/changed": .modified, "/grown": .modified, "/moved": .removed,
                    "/elsewhere": .added, "/folder/x": .removed, "/new": .added, "/new/er": .added,
                ])
            #expect(try Files.filesBelow(root) == before)
            let removed = try fixture.item("/removed")
            #expect(removed?.cloudStatus == .cloudOnly && removed?.copy == nil && removed?.downloadTrigger == nil)
            #expect(try fixture.item("/changed")?.cloudStatus == .locallyModified)
            #expect(try fixture.item("/touched")?.cloudStatus == .localCopy)
            #expect(try fixture.item("/new/er")?.cloudStatus == .localOnly)
            #expect(try fixture.item("/new/er")?.size == 1)
            #expect(try fixture.item("/link") == nil)
            #expect(try fixture.findings().isEmpty)

            try Files.write("/changed", to: root + "/changed")
            Files.remove(root + "/new")
            #expect(try fixture.findings() == ["/changed": .restored, "/new": .removed, "/new/er": .removed])
            #expect(try fixture.item("/new/er") == nil)
            #expect(try fixture.findings().isEmpty)
        }
    }

    @Test("A file where an item is that was never fetched is a person's: modified, never known")
    func unfetched() throws {
        try with { fixture in
            try fixture.database.writeBlocking { tx in
                try tx.items.insert(fileItem("/a"))
                try tx.items.insert(folderItem("/folder"))
                try tx.items.insert(fileItem("/file"))
            }
            for path in ["/a", "/folder", "/file/inside"] { try Files.write("mine", to: fixture.tree.root + path) }
            #expect(try fixture.findings() == ["/a": .modified, "/folder": .obstructed, "/file": .obstructed])
            // The folder in the file's place is not reported for its contents either when only they are checked.
            #expect(try fixture.findings(at: "/file/inside").isEmpty)
            let item = try fixture.item("/a")
            #expect(item?.cloudStatus == .locallyModified && item?.copy == nil && item?.remoteVersion == .current)
        }
    }

    @Test("A file that the sync engine is putting in place is passed over, and so is all while moves wait")
    func beingPlaced() throws {
        try with { fixture in
            try fixture.fetch("/a", "old")
            let localID = try fixture.item("/a")?.localID ?? LocalID("")
            try Files.write("new version", to: fixture.tree.root + "/a")
            try fixture.database.writeBlocking { tx in
                _ = try tx.journal.insert(
                    SyncRecord(
                        action: .download, localID: localID, path: ItemPath(unchecked: "/a"), reason: .user,
                        since: Timestamp(seconds: 1),
                        landing: Landing(
                            etag: ETag(opaque: "2", strength: .strong), digest: sha256("new version"), size: 11,
                            modified: nil)))
            }
            #expect(try fixture.findings().isEmpty)
            // The file is checked again when the engine is done, whether the engine or a person put it there.
            #expect(try fixture.reconciler.run(at: [.root])?.unstable == [ItemPath(unchecked: "/a")])
            try fixture.database.writeBlocking { tx in
                try tx.db.execute(sql: "DELETE FROM syncRecords")
                try tx.db.execute(sql: "INSERT INTO treeMoves (localID, fromPath, toPath) VALUES ('x', '/b', '/c')")
            }
            #expect(try fixture.reconciler.run() == nil)
            try fixture.database.writeBlocking { try $0.db.execute(sql: "DELETE FROM treeMoves") }
            #expect(try fixture.findings() == ["/a": .modified])
        }
    }

    @Test("A copy of a removed item is known; its successor at the path is not mixed up with it")
    func removedItems() throws {
        try with { fixture in
            try fixture.fetch("/a", "old")
            try fixture.database.writeBlocking { tx in
                try tx.db.execute(sql: "UPDATE items SET removedAt = 5")
                try tx.items.insert(fileItem("/a"))
            }
            #expect(try fixture.findings().isEmpty)
            Files.remove(fixture.tree.root + "/a")
            #expect(try fixture.findings() == ["/a": .removed])
        }
    }

    @Test("A removed folder that was made for copies is known; a file in its place is new")
    func removedFolders() throws {
        try with { fixture in
            try fixture.fetch("/a/b", "one")
            try fixture.database.writeBlocking { tx in
                try tx.items.insert(folderItem("/a"))
                try tx.db.execute(sql: "UPDATE items SET removedAt = 5 WHERE path <> '/'")
            }
            #expect(try fixture.findings().isEmpty)
            #expect(try fixture.findings(at: "/a").isEmpty)
            Files.remove(fixture.tree.root + "/a")
            try Files.write("mine", to: fixture.tree.root + "/a")
            #expect(try fixture.findings() == ["/a": .added, "/a/b": .removed])
        }
    }

    @Test("One path is looked at alone, and a folder with all that is in it")
    func scopes() throws {
        try with { fixture in
            for path in ["/a/1", "/a/2", "/b"] { try fixture.fetch(path, path) }
            for path in ["/a/1", "/a/2", "/b"] { Files.remove(fixture.tree.root + path) }
            try Files.write("n", to: fixture.tree.root + "/a/new/deep")
            #expect(try fixture.findings(at: "/b") == ["/b": .removed])
            #expect(try fixture.findings(at: "/a/2") == ["/a/2": .removed])
            // The folder `/a` itself has no row and is new in the tree.
            #expect(
                try fixture.findings(at: "/a") == [
                    "/a": .added, "/a/1": .removed, "/a/new": .added, "/a/new/deep": .added,
                ])
        }
    }

    @Test("Several paths are looked at in one go, each alone")
    func severalScopes() throws {
        try with { fixture in
            for path in ["/a/1", "/a/2", "/b", "/c/d/e"] { try fixture.fetch(path, path) }
            for path in ["/a/1", "/a/2", "/b", "/c"] { Files.remove(fixture.tree.root + path) }
            let look = try fixture.reconciler.run(at: ["/a/1", "/b", "/c"].map { ItemPath(unchecked: $0) })
            #expect(look?.findings.map(\.path.text) == ["/a/1", "/b", "/c/d/e"])
            #expect(try fixture.findings() == ["/a/2": .removed, "/a": .added])
        }
    }

    @Test("A file that is being written is left for later")
    func beingWritten() throws {
        try with { fixture in
            try fixture.fetch("/a", "old", isProof: false)
            let file = open(fixture.tree.root + "/a", O_RDWR | O_CLOEXEC)
            #expect(try fixture.findings().isEmpty)
            #expect(try fixture.reconciler.run(at: [.root])?.unstable == [ItemPath(unchecked: "/a")])
            #expect(try fixture.item("/a")?.copy?.mark.isConclusive(step: FileMark.clockStep) == false)
            close(file)
            #expect(try fixture.reconciler.run(at: [.root])?.unstable == [])
        }
    }

    @Test("P37: a copy that was read while nobody watched was used then; what Larder itself read or put there was not")
    func accessTimes() throws {
        try with { fixture in
            let paths = ["/read", "/soon", "/future", "/own", "/placed", "/unknown"]
            for path in paths { try fixture.fetch(path, "content of \(path)") }
            let now = Timestamp.now()
            func record() throws {
                try fixture.database.writeBlocking { tx in
                    for path in paths {
                        guard var item = try tx.items.item(at: ItemPath(path)) else { continue }
                        item.lastUsed = path == "/unknown" ? nil : now - .seconds(1_000)
                        // The reconciler must read the content of each file to recognise the copy.
                        item.copy?.mark.changed = now - .seconds(path == "/placed" ? 400 : 1_000)
                        try tx.items.updateLocal(item)
                    }
                }
            }
            try record()
            let times: [String: Timestamp] = [
                "/read": now - .seconds(500), "/soon": now - .seconds(997), "/future": now + .seconds(1_000),
                "/own": now - .seconds(2_000), "/placed": now - .seconds(401), "/unknown": now - .seconds(3_000),
            ]
            for (path, time) in times {
                var spec = [
                    timespec(tv_sec: Int(time.seconds), tv_nsec: 0), timespec(tv_sec: 0, tv_nsec: (1 << 30) - 2),
                ]
                try #require(utimensat(AT_FDCWD, fixture.tree.root + path, &spec, 0) == 0)
            }
            let lastUsed = { (path: String) in try fixture.item(path)?.lastUsed?.seconds }
            let quiet = Reconciler(database: fixture.database, tree: fixture.tree.tree, countsAccessTimes: false)
            #expect(try quiet.run()?.isEmpty == true)
            #expect(try lastUsed("/read") == (now - .seconds(1_000)).seconds)
            try record()
            #expect(try fixture.findings().isEmpty)
            #expect(try lastUsed("/read") == (now - .seconds(500)).seconds)
            for path in ["/soon", "/future", "/own", "/placed"] {
                #expect(try lastUsed(path) == (now - .seconds(1_000)).seconds, "\(path)")
            }
            #expect(try lastUsed("/unknown") == nil)
            let anchor = try fixture.database.readBlocking { try $0.meta.integer(.anchor) }
            #expect(try fixture.findings().isEmpty)
            #expect(try fixture.database.readBlocking { try $0.meta.integer(.anchor) } == anchor)
        }
    }
}

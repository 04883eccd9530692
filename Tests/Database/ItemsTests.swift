import GRDB
import Model
import TestSupport
import Testing

@testable import Database

@Suite struct ItemsTests {
    @Test("An item with every field, and one with none, come back as they were written")
    func roundTrip() throws {
        try withDatabase { database in
            let full = Item(
                localID: .random(), fileID: FileID("7"), path: ItemPath(unchecked: "/a%b/c_d\n\u{1F4C4}"), kind: .file,
                size: 3, mimeType: "text/plain", etag: ETag(opaque: "x", strength: .weak),
                lastModified: Timestamp(nanoseconds: -5), isFavorite: true, owner: "ada", permissions: "RDNVW",
                removedAt: Timestamp(seconds: 4), cloudStatus: .locallyModified, copy: localCopy("y", inode: .max),
                downloadTrigger: .availableOffline, formerTrigger: .user, lastUsed: Timestamp(seconds: 9),
                syncActivity: [.downloading, .updating])
            let bare = Item(localID: .random(), fileID: nil, path: .root, kind: .folder)
            for item in [full, bare] {
                let stored = try database.writeBlocking { tx in try tx.items.insert(item) }
                var expected = item
                expected.databaseID = stored.databaseID
                expected.anchor = stored.anchor
                #expect(stored == expected)
                let read = try database.readBlocking { try $0.items.item(databaseID: stored.databaseID) }
                #expect(read == expected)
                #expect(read?.etag?.strength == item.etag?.strength)
            }
        }
    }

    @Test("An empty text stays an empty text, an empty blob an empty blob")
    func emptyIsNotNull() throws {
        try withDatabase { database in
            var item = fileItem("/a")
            item.mimeType = ""
            item.copy = localCopy("e", inode: 1)
            item.copy?.digest = []
            let stored = try database.writeBlocking { [item] tx in try tx.items.insert(item) }
            let read = try database.readBlocking { try $0.items.item(localID: stored.localID) }
            #expect(read?.mimeType == "")
            #expect(read?.copy?.digest == [])
        }
    }

    @Test("A row for what is here alone, once forgotten, is told as removed, and one that stays as updated")
    func forgotten() throws {
        try withDatabase { database in
            let (alone, known) = try database.writeBlocking { tx in
                var known = fileItem("/b")
                known.fileID = FileID("7")
                return (try tx.items.insert(fileItem("/a")), try tx.items.insert(known))
            }
            let summary = try database.writeBlocking { tx in
                for item in [alone, known] {
                    try tx.items.forgetLocalFile(of: try #require(try tx.items.scanRow(at: item.path)))
                }
                return try #require(tx.changes)
            }
            #expect(summary.removed == [alone.databaseID] && summary.updated == [known.databaseID])
        }
    }

    @Test("NFC and NFD of a name are two items side by side")
    func normalisation() throws {
        try withDatabase { database in
            let (nfc, nfd) = (fileItem("/\u{e9}"), fileItem("/e\u{301}"))
            try database.writeBlocking { tx in
                try tx.items.insert(nfc)
                try tx.items.insert(nfd)
            }
            let found = try database.readBlocking { try $0.items.item(at: nfd.path) }
            #expect(found?.localID == nfd.localID)
            #expect(try database.readBlocking { try $0.items.children(of: .root) }.count == 2)
        }
    }

    @Test("A path holds one item that is not removed, and any number that are")
    func onePathOneItem() throws {
        try withDatabase { database in
            var gone = fileItem("/a")
            gone.removedAt = Timestamp(seconds: 1)
            gone.fileID = FileID("1")
            var live = fileItem("/a")
            live.fileID = FileID("1")
            try database.writeBlocking { [gone, live] tx in
                try tx.items.insert(gone)
                try tx.items.insert(live)
            }
            #expect(throws: Failure.self) { try database.writeBlocking { tx in try tx.items.insert(fileItem("/a")) } }
            let reads = try database.readBlocking { [live] reads in
                (try reads.items.item(at: live.path), try reads.items.scanRows(withFileID: FileID("1")))
            }
            #expect(reads.0?.localID == live.localID)
            #expect(Set(reads.1.map(\.localID)) == [live.localID, gone.localID])
        }
    }

    @Test("P41: a copy that may be the first of two contents, which an older Larder marked as outdated, is so no more")
    func racedCopies() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            let queue = try DatabaseQueue(path: path)
            try await queue.writeWithoutTransaction { db in
                try Migrations.run(db, at: path, migrations: Array(Migrations.all[..<5]))
                for (number, copy) in ["raced:v", "raced:old"].enumerated() {
                    try db.execute(
                        sql: """
                            INSERT INTO items (localID, path, parentPath, name, type, etag, etagStrength, cloudStatus,
                              copyETag, copyETagStrength, copyDigest, copyInode, copySize, copyModified, copyChanged,
                              copyRecorded, anchor)
                            VALUES (?1, '/' || ?1, '/', ?1, 0, 'v', 0, 1, ?2, 0, x'00', 1, 1, 1, 1, 1, 1)
                            """, arguments: ["\(number)", copy])
                }
            }
            try queue.close()
            let database = try Database.open(path: path)
            for (name, version, isDistrusted) in [
                ("/0", RemoteVersion.current, true), ("/1", RemoteVersion.newer, false),
            ] {
                try await database.read { tx in
                    let item = try #require(try tx.items.item(at: ItemPath(unchecked: name)))
                    #expect(item.remoteVersion == version)
                    #expect(try tx.items.isCopyDistrusted(databaseID: item.databaseID) == isDistrusted)
                }
            }
            try database.close()
        }
    }

    @Test("An update of an item without a row is refused, and changes the columns of no scan")
    func updates() throws {
        try withDatabase { database in
            #expect(throws: Failure.self) { try database.writeBlocking { tx in try tx.items.update(fileItem("/a")) } }
            try database.writeBlocking { tx in
                var stored = try tx.items.insert(fileItem("/a"))
                try tx.db.execute(sql: "UPDATE items SET racy = 2, listedETag = 'l'")
                stored.isFavorite = true
                try tx.items.update(stored)
                var rows = 0
                try tx.items.each(where: "racy = 2 AND listedETag = ?", [.text("l")]) { item in
                    rows += 1
                    return item.isFavorite
                }
                #expect(rows == 1)
            }
        }
    }

    @Test("remoteVersion in SQL is remoteVersion in memory", arguments: 0..<4)
    func remoteVersions(status: Int) throws {
        let tags: [ETag?] = [
            nil, ETag(opaque: "x", strength: .strong), ETag(opaque: "x", strength: .weak),
            ETag(opaque: "x", strength: .substitute), ETag(opaque: "z", strength: .strong),
        ]
        try withDatabase { database in
            var expected: [ItemPath: RemoteVersion?] = [:]
            try database.writeBlocking { tx in
                for (index, etag) in tags.enumerated() {
                    for (other, copyTag) in tags.enumerated() {
                        for kind in [Item.Kind.file, .folder] {
                            var item = fileItem("/\(index)-\(other)-\(kind)")
                            item.kind = kind
                            item.etag = etag
                            item.cloudStatus = CloudStatus(rawValue: status) ?? .cloudOnly
                            item.copy = copyTag.map { LocalCopy(etag: $0, digest: [1], mark: mark(inode: 1)) }
                            expected.updateValue(item.remoteVersion, forKey: item.path)
                            try tx.items.insert(item)
                        }
                    }
                }
            }
            let session = try ReadSession(database)
            let cursor = try session.items([ItemColumns(.path), ItemColumns(.remoteVersion)], from: "items")
            var rows = 0
            while try cursor.next() {
                let path = ItemPath(unchecked: cursor.text(.path).map { String(decoding: $0, as: UTF8.self) } ?? "")
                let found =
                    cursor.isNull(.remoteVersion) ? nil : RemoteVersion(rawValue: Int(cursor.integer(.remoteVersion)))
                #expect(expected[path] == .some(found), "\(path)")
                rows += 1
            }
            #expect(rows == 50)
        }
    }
}

import Connection
import Database
import Model
import TestSupport
import Testing

@testable import ItemList

/// Listings of a server that this account is about to change, or has just changed.
@Suite struct PendingPlacesTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    private func withDatabase(_ body: (Database) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            for folder in ["/", "/d", "/e"] {
                _ = try await list(database, folder, ["/d/", "/e/", "/f"].filter { _ in folder == "/" })
            }
            try await body(database)
            try database.close()
        }
    }

    /// Lists a folder. A name with a closing slash is a folder's.
    @discardableResult
    private func list(
        _ database: Database, _ folder: String, _ entries: [String], ids: Bool = true,
        changes: FinishedChanges = FinishedChanges(), meanwhile: () async throws -> Void = {}
    ) async throws -> FolderMerge.Result {
        let folder = try ItemPath(folder)
        let merge = FolderMerge(
            job: ScanJob(path: folder, isWhole: true),
            context: .init(
                started: Timestamp(seconds: 1_000_000), isListed: { _ in false }, reservesDotLarder: false,
                finishedChanges: changes))
        try await meanwhile()
        let listed = try entries.map { text in
            let path = try ItemPath(text)
            return ListedItem(
                path: path, kind: text.hasSuffix("/") ? .folder : .file, fileID: ids ? FileID("id" + path.name) : nil,
                etag: ETag(opaque: "1", strength: .strong))
        }
        return try await database.write { tx in
            try merge.merge(listed, listedAt: nil, in: tx)
            let result = try merge.finish(
                Listing(
                    folder: ListedItem(
                        path: folder, kind: .folder, fileID: FileID("id" + folder.name),
                        etag: ETag(opaque: "1", strength: .strong))), in: tx)
            _ = try tx.decideMissing(guardedBy: nil, at: Timestamp(seconds: 1_000_000))
            return result
        }
    }

    private func record(_ action: SyncRecord.Action, _ item: Item, at path: ItemPath, _ tx: Transaction) throws {
        _ = try tx.journal.insert(
            SyncRecord(
                action: action, state: .ready, localID: item.localID, path: path, reason: .user,
                since: Timestamp(seconds: 5)))
    }

    private func listed(_ database: Database) async throws -> [String] {
        try await database.read { reads in
            var paths: [String] = []
            try reads.items.each(ItemListing(folder: .root, isRecursive: true)) { item in
                paths.append(item.path.text)
                return true
            }
            return paths.sorted()
        }
    }

    @Test("I10: what is about to be deleted does not come back through a listing", arguments: [true, false])
    func deletion(ids: Bool) async throws {
        try await withDatabase { database in
            try await database.write { tx in
                guard let item = try tx.items.item(at: path("/d")) else { return }
                let record = try tx.journal.insert(
                    SyncRecord(
                        action: .delete(), state: .ready, localID: item.localID, path: item.path, reason: .user,
                        since: Timestamp(seconds: 5)))
                try tx.items.hide(item, for: record.id, at: Timestamp(seconds: 6))
            }
            let result = try await list(database, "/", ["/d/", "/e/", "/f"], ids: ids)
            #expect(result.jobs.map(\.path.text) == ["/e"])
            #expect(try await listed(database) == ["/e", "/f"])
            // Also when somebody has moved it meanwhile.
            try await list(database, "/e", ["/e/d/"])
            #expect(try await listed(database) == ["/e", "/f"])
        }
    }

    @Test("I18: a folder of which something was passed over does not count as listed, and is no evidence about ETags")
    func passedOver() async throws {
        try await withDatabase { database in
            func listedETag(_ folder: String) async throws -> String? {
                try await database.read { try $0.items.scanRow(at: path(folder))?.listedETag }
            }
            try await list(database, "/", ["/d/", "/e/", "/f"])
            #expect(try await listedETag("/") == "1")
            try await database.write { tx in
                guard let item = try tx.items.item(at: path("/f")) else { return }
                let moved = try tx.items.move(item, to: path("/e/g"))
                try record(.move(to: path("/e/g")), moved, at: path("/f"), tx)
            }
            var result = try await list(database, "/", ["/d/", "/e/", "/f", "/new"])
            #expect(try await listedETag("/") == nil && result.evidence == ETagTrust.Evidence())
            // Where somebody else has moved it to, it is passed over too, and the folder is listed again.
            result = try await list(database, "/d", ["/d/f"])
            #expect(try await listedETag("/d") == nil && result.evidence == ETagTrust.Evidence())
            let jobs = try await database.read { try $0.scan.jobs() }
            #expect(jobs.contains { $0.path.text == "/d" })
        }
    }

    @Test("I9: what is about to be moved is neither moved back nor missed", arguments: [true, false])
    func move(ids: Bool) async throws {
        try await withDatabase { database in
            try await database.write { tx in
                guard let item = try tx.items.item(at: path("/f")) else { return }
                let moved = try tx.items.move(item, to: path("/e/g"))
                try record(.move(to: path("/e/g")), moved, at: path("/f"), tx)
            }
            try await list(database, "/", ["/d/", "/e/", "/f"], ids: ids)
            try await list(database, "/e", [])
            #expect(try await listed(database) == ["/d", "/e", "/e/g"])
        }
    }

    @Test("a listing that began before a change was made does not undo it, and the folder is listed again")
    func outOfDate() async throws {
        try await withDatabase { database in
            let changes = FinishedChanges()
            // The folder was created while the listing was under way, which does not have it.
            try await list(database, "/", ["/d/", "/e/", "/f"], changes: changes) {
                changes.note([PendingPlace(try path("/new"), .arrives), PendingPlace(try path("/f"), .leaves)])
                try await database.write { tx in
                    let folder = try tx.items.insertPlaceholder(path("/new"), kind: .folder, activity: .creating)
                    try tx.items.confirm(
                        folder, as: ListedItem(path: path("/new"), kind: .folder, fileID: FileID("new")),
                        ending: .creating)
                    guard let gone = try tx.items.item(at: path("/f")) else { return }
                    try tx.items.delete(databaseID: gone.databaseID)
                }
            }
            #expect(try await listed(database) == ["/d", "/e", "/new"])
            let jobs = try await database.read { try $0.scan.jobs() }
            #expect(jobs.contains { $0.path.isRoot })
            // The next listing counts.
            try await list(database, "/", ["/d/", "/e/", "/f", "/new/"], changes: changes)
            #expect(try await listed(database) == ["/d", "/e", "/f", "/new"])
        }
    }

    @Test("changes are kept only while listings are under way")
    func memory() throws {
        let changes = FinishedChanges()
        changes.note([PendingPlace(try path("/a"), .leaves)])
        var first: ListingMoment? = changes.begin()
        #expect(first?.changedSince == [])
        changes.note([PendingPlace(try path("/b"), .leaves)])
        let second = changes.begin()
        changes.note([PendingPlace(try path("/c"), .arrives)])
        #expect(first?.changedSince.map(\.path.text) == ["/b", "/c"])
        #expect(second.changedSince.map(\.path.text) == ["/c"])
        first = nil
        #expect(second.changedSince.map(\.path.text) == ["/c"])
    }

    @Test("a listing leaves a favorite and a modification time that are about to change, both or one", arguments: 0..<4)
    func properties(_ pending: Int) async throws {
        try await withDatabase { database in
            let time = Timestamp(seconds: 77)
            let (isMarked, isDated) = (pending & 1 == 1, pending & 2 == 2)
            try await database.write { tx in
                guard var item = try tx.items.item(at: path("/f")) else { return }
                (item.isFavorite, item.lastModified) = (true, time)
                item = try tx.items.update(item)
                if isMarked { try record(.setFavorite(true), item, at: item.path, tx) }
                if isDated { try record(.setModificationTime(time, former: nil), item, at: item.path, tx) }
            }
            try await list(database, "/", ["/d/", "/e/", "/f"])
            let item = try await database.read { try $0.items.item(at: path("/f")) }
            #expect(item?.isFavorite == isMarked && item?.lastModified == (isDated ? time : nil))
        }
    }

    @Test("another item at the path shows its own time, and a listing from before a new time is no news")
    func otherItem() async throws {
        try await withDatabase { database in
            let time = Timestamp(seconds: 77)
            try await database.write { tx in
                guard var item = try tx.items.item(at: path("/f")) else { return }
                (item.lastModified, item.fileID) = (time, FileID("another"))
                item = try tx.items.update(item)
                try record(.setModificationTime(time, former: nil), item, at: item.path, tx)
            }
            try await list(database, "/", ["/d/", "/e/", "/f"])
            #expect(try await database.read { try $0.items.item(at: path("/f"))?.lastModified } == nil)

            let changes = FinishedChanges()
            let now = ETag(opaque: "2", strength: .strong)
            try await list(database, "/", ["/d/", "/e/", "/f"], changes: changes) {
                try await database.write { tx in
                    guard var item = try tx.items.item(at: path("/f")) else { return }
                    item.etag = now
                    try tx.items.update(item)
                }
                let action = SyncRecord.Action.setModificationTime(time, former: nil)
                let done = SyncRecord(
                    action: action, localID: .random(), path: try path("/f"), reason: .user, since: time)
                changes.note(done.changedPlaces)
            }
            #expect(try await database.read { try $0.items.item(at: path("/f"))?.etag } == now)
        }
    }

    @Test("a place matters for its folder and for everything below it")
    func places() throws {
        var places = FolderPlaces()
        places.add(PendingPlace(try path("/a/b"), .leaves), in: try path("/a"))
        #expect(places.entries == [try path("/a/b"): [.leaves]] && !places.isWithin)
        places = FolderPlaces()
        places.add(PendingPlace(try path("/a/b"), .leaves), in: try path("/a/b/c"))
        #expect(places.isWithin)
        places = FolderPlaces()
        places.add(PendingPlace(try path("/a/b"), .isMarked), in: try path("/a/b"))
        places.add(PendingPlace(try path("/a/bc"), .leaves), in: try path("/a/b"))
        #expect(places.isEmpty)
    }
}

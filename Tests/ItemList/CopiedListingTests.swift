import Connection
import Database
import Model
import TestSupport
import Testing

@testable import ItemList

/// Listings of a folder that the server has copied for this account.
@Suite struct CopiedListingTests {
    private func entry(_ text: String, size: Int64 = 1) throws -> ListedItem {
        let path = try ItemPath(text)
        return ListedItem(
            path: path, kind: text.hasSuffix("/") ? .folder : .file, fileID: FileID("id\(path)"),
            etag: ETag(opaque: "1", strength: .strong), size: text.hasSuffix("/") ? nil : size)
    }

    private func list(_ database: Database, _ folder: String, _ entries: [String], whole: Bool = true) async throws {
        let merge = FolderMerge(
            job: ScanJob(path: try ItemPath(folder), isWhole: whole),
            context: .init(
                started: Timestamp(seconds: 1_000_000), isListed: { _ in false }, reservesDotLarder: false))
        let (listed, top) = (
            try entries.map { try entry($0) }, try entry(folder.hasSuffix("/") ? folder : folder + "/")
        )
        try await database.write { tx in
            try merge.merge(listed, listedAt: nil, in: tx)
            _ = try merge.finish(Listing(folder: top), in: tx)
            _ = try tx.decideMissing(guardedBy: nil, at: Timestamp(seconds: 1_000_000))
        }
    }

    /// Calls `body` with a list in which `/e` shows what it holds as a copy of `/b`: `x`, and `s` with `y`. The server
    /// has made the copy, and has not listed it.
    private func withCopy(_ body: (Database) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: folder + "/larder.db")
            try await list(database, "/", ["/b/"])
            try await list(database, "/b", ["/b/x", "/b/s/"])
            try await list(database, "/b/s", ["/b/s/y"])
            try await database.write { tx in
                let (source, target) = (try ItemPath("/b"), try ItemPath("/e"))
                let copy = try tx.items.insertPlaceholder(target, kind: .folder, activity: .copying)
                try tx.items.insertCopies(below: source, at: target, for: SyncRecordID(7))
                try tx.items.confirm(copy, as: entry("/e/"), ending: .copying)
            }
            try await body(database)
            try database.close()
        }
    }

    private func listed(_ database: Database) async throws -> [String: LocalID] {
        try await database.read { reads in
            var found: [String: LocalID] = [:]
            try reads.items.each(ItemListing(folder: ItemPath("/e"), isRecursive: true)) { item in
                found[item.path.text] = item.localID
                return true
            }
            return found
        }
    }

    @Test("S7: what a copied folder showed becomes what the server lists, with the same ids")
    func same() async throws {
        try await withCopy { database in
            let before = try await listed(database)
            #expect(before.keys.sorted() == ["/e/s", "/e/s/y", "/e/x"])
            try await list(database, "/", ["/b/", "/e/"], whole: false)
            try await list(database, "/e", ["/e/x", "/e/s/"])
            try await list(database, "/e/s", ["/e/s/y"])
            #expect(try await listed(database) == before)
            let item = try await database.read { try $0.items.item(at: ItemPath("/e/s/y")) }
            #expect(item?.fileID == FileID("id/e/s/y") && item?.cloudStatus == .cloudOnly)
        }
    }

    @Test("S7: what the server has not copied is no longer shown, with all below, and of another kind is another item")
    func other() async throws {
        try await withCopy { database in
            let before = try await listed(database)
            try await list(database, "/e", ["/e/s", "/e/new"])
            let after = try await listed(database)
            #expect(after.keys.sorted() == ["/e/new", "/e/s"])
            #expect(after["/e/s"] != before["/e/s"])
        }
    }

    @Test("S7: a copied folder that somebody else has deleted shows nothing any more", arguments: [true, false])
    func gone(isReplaced: Bool) async throws {
        try await withCopy { database in
            if isReplaced {
                // Another folder has come to its place.
                try await database.write { tx in
                    guard var item = try tx.items.item(at: ItemPath("/e")) else { return }
                    item.fileID = FileID("the copy")
                    try tx.items.update(item)
                }
            }
            try await list(database, "/", isReplaced ? ["/b/", "/e/"] : ["/b/"])
            #expect(try await listed(database).isEmpty)
        }
    }
}

import Connection
import Database
import Model
import Synchronization
import TestSupport

@testable import ItemList

/// A database and the listings that it receives, folder by folder, as in a scan.
struct ListedAccount {
    let database: Database
    var listedFolders = ListedFolders()
    /// Whether the entries of a listing arrive in one piece.
    var listsWhole = true
    /// The merges that wait for the listings of other folders.
    private var held: [FolderMerge] = []
    var started = Timestamp(seconds: 1_000_000)
    /// The items whose copies the scans asked to fetch again.
    private let fetchedAgain = FetchedAgain()

    private final class FetchedAgain: Sendable {
        let items = Mutex<[LocalID]>([])
    }

    func takeFetchedAgain() -> [LocalID] {
        fetchedAgain.items.withLock { items in
            defer { items = [] }
            return items
        }
    }

    init(_ folder: String) throws {
        database = try Database.open(path: folder + "/larder.db")
    }

    /// Lists a folder as a scan does and returns the folders to list next.
    @discardableResult
    mutating func list(
        _ path: String, etag: String, whole: Bool = false, _ entries: ListedItem...
    ) async throws -> FolderMerge.Result {
        try await list(path, etag: etag, whole: whole, entries: entries)
    }

    @discardableResult
    mutating func list(
        _ path: String, etag: String, whole: Bool = false, entries: [ListedItem]
    ) async throws -> FolderMerge.Result {
        let path = try ItemPath(path)
        let listed = listedFolders
        let merge = FolderMerge(
            job: ScanJob(path: path, isWhole: whole),
            context: .init(
                started: started, keepsAllJobs: { !whole }, isListed: { listed.contains($0) },
                noteListed: { listed.insert($0) }, reservesDotLarder: false,
                fetchesAgain: { [fetchedAgain] id, _ in fetchedAgain.items.withLock { $0.append(id) } }))
        let date = started
        let (result, stillHeld) = try await database.write { [held, listsWhole] tx in
            try merge.merge(entries, areAll: listsWhole, listedAt: date, in: tx)
            let folder = ListedItem(
                path: path, kind: .folder, fileID: FileID("id" + path.text), etag: ETag(field: etag))
            var result = try merge.finish(Listing(folder: folder), in: tx)
            var stillHeld: [FolderMerge] = []
            for merge in held + (result.held.map { [$0] } ?? []) {
                let decided = try merge.decideHeld(in: tx)
                result.jobs += decided.jobs
                if let held = decided.held { stillHeld.append(held) }
            }
            // The scan ends here.
            _ = try tx.decideMissing(guardedBy: nil, at: date)
            return (result, stillHeld)
        }
        held = stillHeld
        return result
    }

    mutating func beginScan() {
        listedFolders = ListedFolders()
        held = []
        started = started + .seconds(60)
    }

    func item(_ path: String) async throws -> Item? {
        let path = try ItemPath(path)
        return try await database.read { try $0.items.item(at: path) }
    }

    /// Gives an item a local copy, as a download does.
    func giveCopy(_ path: String, modified: Bool = false) async throws {
        let path = try ItemPath(path)
        try await database.write { tx in
            guard var item = try tx.items.item(at: path) else { throw Failure(.notFound, path.text) }
            item.cloudStatus = modified ? .locallyModified : .localCopy
            if item.kind == .file, let etag = item.etag {
                let mark = FileMark(
                    inode: 7, size: 1, modified: Timestamp(seconds: 1), changed: Timestamp(seconds: 1),
                    recorded: Timestamp(seconds: 2))
                item.copy = LocalCopy(etag: etag, digest: Array(repeating: 1, count: 32), mark: mark)
            }
            item.downloadTrigger = .user
            item.lastUsed = Timestamp(seconds: 5)
            try tx.items.update(item)
        }
    }

    /// Adds an action that is under way for the item, with a record that uses all its members.
    func addWork(_ action: SyncRecord.Action, to path: String) async throws -> (Item, [SyncRecord]) {
        let path = try ItemPath(path)
        return try await database.write { tx in
            guard var item = try tx.items.item(at: path), let etag = item.etag else {
                throw Failure(.notFound, path.text)
            }
            let time = Timestamp(seconds: 7)
            var record = SyncRecord(
                action: action, state: .processing, localID: item.localID, path: path, reason: .availableOffline,
                key: "k\(path.text)", since: time, attempts: 3, wait: .until(time))
            var landing: Landing?
            if action == .download {
                record.wait = .newVersion(since: etag, until: time)
                landing = Landing(etag: etag, digest: Array(repeating: 3, count: 32), size: 1, modified: time)
                item.syncActivity.insert(.downloading)
                item.formerTrigger = .availableOffline
                try tx.items.update(item)
            }
            (record.rounds, record.landing, record.overwrites) = (2, landing, item.copy?.mark)
            _ = try tx.journal.insert(record)
            return (item, try tx.journal.records(of: item.localID))
        }
    }

    func work(of id: LocalID) async throws -> (item: Item, records: [SyncRecord])? {
        try await database.read { tx in try tx.items.item(localID: id).map { ($0, try tx.journal.records(of: id)) } }
    }

    func moves() async throws -> [String] {
        try await database.write { tx in try tx.moves.all().map { "\($0.from) -> \($0.to)" } }
    }
}

func file(_ path: String, id: String?, etag: String, changed: Int64 = 10, size: Int64 = 1) throws -> ListedItem {
    ListedItem(
        path: try ItemPath(path), kind: .file, fileID: id.map(FileID.init), etag: ETag(field: etag), size: size,
        lastModified: Timestamp(seconds: changed))
}

func folder(_ path: String, id: String?, etag: String) throws -> ListedItem {
    ListedItem(path: try ItemPath(path), kind: .folder, fileID: id.map(FileID.init), etag: ETag(field: etag))
}

extension Item {
    /// The item with only its local properties, whatever the server says.
    var localPart: Item {
        var item = Item(localID: localID, fileID: nil, path: .root, kind: kind)
        (item.cloudStatus, item.copy, item.syncActivity) = (cloudStatus, copy, syncActivity)
        (item.downloadTrigger, item.formerTrigger, item.lastUsed) = (downloadTrigger, formerTrigger, lastUsed)
        return item
    }
}

extension ListedAccount {
    /// Calls `body` with an empty database.
    static func with(_ body: (inout ListedAccount) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            var account = try ListedAccount(folder)
            try await body(&account)
            try account.database.close()
        }
    }
}

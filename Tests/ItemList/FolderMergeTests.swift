import Connection
import Database
import ItemList
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import ItemList

/// A database and the listings that it receives, folder by folder, as in a scan.
private struct Account {
    let database: Database
    var listedFolders = ListedFolders()
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
        let (result, stillHeld) = try await database.write { [held] tx in
            try merge.merge(entries, listedAt: date, in: tx)
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
                key: "k", since: time, attempts: 3, wait: .until(time))
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

private func file(_ path: String, id: String?, etag: String, changed: Int64 = 10, size: Int64 = 1) throws -> ListedItem
{
    ListedItem(
        path: try ItemPath(path), kind: .file, fileID: id.map(FileID.init), etag: ETag(field: etag), size: size,
        lastModified: Timestamp(seconds: changed))
}

private func folder(_ path: String, id: String?, etag: String) throws -> ListedItem {
    ListedItem(path: try ItemPath(path), kind: .folder, fileID: id.map(FileID.init), etag: ETag(field: etag))
}

extension Item {
    /// The item with only its local properties, whatever the server says.
    fileprivate var localPart: Item {
        var item = Item(localID: localID, fileID: nil, path: .root, kind: kind)
        (item.cloudStatus, item.copy, item.syncActivity) = (cloudStatus, copy, syncActivity)
        (item.downloadTrigger, item.formerTrigger, item.lastUsed) = (downloadTrigger, formerTrigger, lastUsed)
        return item
    }
}

@Suite("A folder's listing becomes rows")
struct FolderMergeTests {
    private func withAccount(_ body: (inout Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            var account = try Account(folder)
            try await body(&account)
            try account.database.close()
        }
    }

    @Test("I2: only folders with another ETag are listed next")
    func descent() async throws {
        try await withAccount { account in
            var result = try await account.list(
                "/", etag: "r1", folder("/a", id: "a", etag: "a1"), folder("/b", id: "b", etag: "b1"))
            #expect(result.jobs.map(\.path.text) == ["/a", "/b"])
            try await account.list("/a", etag: "a1")
            try await account.list("/b", etag: "b1")
            account.beginScan()
            result = try await account.list(
                "/", etag: "r2", folder("/a", id: "a", etag: "a2"), folder("/b", id: "b", etag: "b1"))
            #expect(result.jobs == [ScanJob(path: try ItemPath("/a"), isWhole: false)])
            #expect(result.changed)
            account.beginScan()
            result = try await account.list(
                "/", etag: "r2", whole: true, folder("/a", id: "a", etag: "a2"), folder("/b", id: "b", etag: "b1"))
            #expect(result.jobs.count == 2)
            #expect(!result.changed)
        }
    }

    @Test("a walk over what is unchanged writes nothing, and leaves for later scans only folders with another ETag")
    func unchanged() async throws {
        try await withAccount { account in
            let database = account.database
            func jobs() async throws -> [String] { try await database.read { try $0.scan.jobs() }.map(\.path.text) }
            func written() throws -> Int { try Files.read("\(database.path)-wal").count }
            let (a, x) = (try folder("/a", id: "a", etag: "a1"), try file("/x", id: "x", etag: "1"))
            try await account.list("/", etag: "r1", whole: true, a, x)
            #expect(try await jobs() == ["/a"])
            try await account.list("/a", etag: "a1", whole: true)
            #expect(try await jobs() == [])
            let before = try written()
            account.beginScan()
            let result = try await account.list("/", etag: "r1", whole: true, a, x)
            #expect(result.jobs == [ScanJob(path: try ItemPath("/a"), isWhole: true)])
            try await account.list("/a", etag: "a1", whole: true)
            #expect(try written() == before)
        }
    }

    @Test("I3: a change below an unchanged ETag is told", arguments: [true, false])
    func contradiction(sameETag: Bool) async throws {
        try await withAccount { account in
            try await account.list("/", etag: "r1", whole: true, file("/x", id: "x", etag: "1"))
            account.beginScan()
            let result = try await account.list(
                "/", etag: sameETag ? "r1" : "r2", whole: true, file("/x", id: "x", etag: "2"))
            #expect(result.evidence.contradicts == sameETag)
        }
    }

    @Test("I3: an ETag that changed with that of a folder below has told of a change there", arguments: [true, false])
    func told(below: Bool) async throws {
        try await withAccount { account in
            try await account.list("/", etag: "r1", folder("/a", id: "a", etag: "a1"), file("/x", id: "x", etag: "1"))
            account.beginScan()
            let result = try await account.list(
                "/", etag: "r2", whole: true, folder("/a", id: "a", etag: below ? "a2" : "a1"),
                file("/x", id: "x", etag: below ? "1" : "2"))
            #expect(result.evidence == ETagTrust.Evidence(tells: below))
        }
    }

    @Test("I18: a folder with an entry about which the server told an error does not count as listed")
    func unknownEntry() async throws {
        try await withAccount { account in
            let d = try ItemPath("/d")
            try await account.list("/", etag: "r1", folder("/d", id: "d", etag: "d1"))
            try await account.list("/d", etag: "d1", file("/d/x", id: "x", etag: "1"))
            account.beginScan()
            let listed = ListedItem(path: d, kind: .folder, fileID: FileID("d"), etag: ETag(field: "d2"))
            let merge = FolderMerge(
                job: ScanJob(path: d, isWhole: false),
                context: .init(started: account.started, isListed: { _ in false }, reservesDotLarder: false))
            let row = try await account.database.write { tx in
                _ = try merge.finish(Listing(folder: listed, unknown: [d.appending("x")]), in: tx)
                return try tx.items.scanRow(at: d)
            }
            #expect(row?.listedETag == nil)
            #expect(try await account.item("/d/x") != nil)
        }
    }

    @Test(
        "I5: a file found elsewhere with its id keeps its row, whichever folder is listed first",
        arguments: [true, false])
    func move(oldFirst: Bool) async throws {
        try await withAccount { account in
            try await account.list(
                "/", etag: "r1", folder("/a", id: "a", etag: "a1"), folder("/b", id: "b", etag: "b1"))
            try await account.list("/a", etag: "a1", file("/a/x", id: "x", etag: "1"))
            try await account.list("/b", etag: "b1")
            try await account.giveCopy("/a/x")
            let before = try #require(try await account.item("/a/x"))
            account.beginScan()
            if oldFirst { try await account.list("/a", etag: "a2") }
            try await account.list("/b", etag: "b2", file("/b/y", id: "x", etag: "1"))
            if !oldFirst { try await account.list("/a", etag: "a2") }
            let after = try #require(try await account.item("/b/y"))
            #expect(after.localID == before.localID)
            #expect(after.copy == before.copy)
            #expect(after.lastUsed == before.lastUsed)
            #expect(after.downloadTrigger == .user)
            #expect(try await account.moves() == ["/a/x -> /b/y"])
            #expect(try await account.item("/a/x") == nil)
        }
    }

    @Test("I6: a renamed folder with its old ETag takes what is below along", arguments: [true, false])
    func folderRename(oldFirst: Bool) async throws {
        try await withAccount { account in
            try await account.list(
                "/", etag: "r1", folder("/p", id: "p", etag: "p1"), folder("/q", id: "q", etag: "q1"))
            try await account.list("/p", etag: "p1", folder("/p/100% a_b", id: "f", etag: "f1"))
            try await account.list("/p/100% a_b", etag: "f1", file("/p/100% a_b/x", id: "x", etag: "1"))
            try await account.list("/q", etag: "q1")
            account.beginScan()
            if oldFirst { try await account.list("/p", etag: "p2") }
            let result = try await account.list("/q", etag: "q2", folder("/q/new", id: "f", etag: "f1"))
            if !oldFirst { try await account.list("/p", etag: "p2") }
            #expect(result.jobs.isEmpty)
            #expect(try await account.item("/q/new/x")?.fileID == FileID("x"))
            #expect(try await account.item("/q/new/x")?.isRemoved == false)
            #expect(try await account.moves() == ["/p/100% a_b -> /q/new"])
        }
    }

    /// Lists two folders that hold the same items, one of them twice, in an order.
    private func listTwins(
        _ account: inout Account, _ names: [String], etag: String, _ files: [String: String]
    ) async throws -> Bool {
        var entries: [ListedItem] = []
        for name in names { entries.append(try folder(name, id: "g", etag: etag)) }
        var changed = try await account.list("/", etag: "r" + etag, entries: entries).changed
        for name in names {
            let inside = try files.map { try file("\(name)/\($0)", id: $1, etag: "1") }
            if try await account.list(name, etag: etag, entries: inside).changed { changed = true }
        }
        return changed
    }

    @Test("I17: one id at two places of a scan is two items, each with its path and copy, in later scans too")
    func twoPlaces() async throws {
        try await withAccount { account in
            let names = ["/direct", "/group"]
            #expect(try await listTwins(&account, names, etag: "1", ["a": "A"]))
            var ids: [LocalID] = []
            for path in ["/direct", "/direct/a", "/group", "/group/a"] {
                ids.append(try #require(try await account.item(path)).localID)
                if path.hasSuffix("a") { try await account.giveCopy(path) }
            }
            #expect(Set(ids).count == 4)
            for order in [names, names.reversed(), names] {
                account.beginScan()
                #expect(try await !listTwins(&account, order, etag: "1", ["a": "A"]))
            }
            #expect(try await account.moves().isEmpty)
            // One goes, and takes nothing from the other.
            account.beginScan()
            _ = try await listTwins(&account, ["/direct"], etag: "2", ["a": "A"])
            let left = try #require(try await account.item("/direct/a"))
            #expect(left.localID == ids[1] && left.cloudStatus == .localCopy && left.fileID == FileID("A"))
            #expect(try await account.item("/group/a") == nil)
            #expect(try await account.moves().isEmpty)
            // The other moves, for no byte.
            account.beginScan()
            _ = try await listTwins(&account, ["/d"], etag: "2", ["a": "A"])
            let moved = try #require(try await account.item("/d/a"))
            #expect(moved.localID == ids[1] && moved.cloudStatus == .localCopy)
        }
    }

    @Test(
        "I17, I5: an item that moves to two places is a move and a new item, whichever folder is listed first",
        arguments: [
            ["/direct", "/group", "/origin"], ["/origin", "/group", "/direct"], ["/group", "/origin", "/direct"],
        ])
    func movedToTwoPlaces(order: [String]) async throws {
        try await withAccount { account in
            let ids = ["/direct": "g", "/group": "g", "/origin": "o"]
            func root(_ etag: String) throws -> [ListedItem] {
                try ids.sorted { $0.key < $1.key }.map { try folder($0.key, id: $0.value, etag: etag) }
            }
            try await account.list("/", etag: "r1", entries: root("1"))
            for name in order {
                let inside = name == "/origin" ? [try file("/origin/y", id: "Y", etag: "1")] : []
                try await account.list(name, etag: "1", entries: inside)
            }
            try await account.giveCopy("/origin/y")
            let before = try #require(try await account.item("/origin/y"))
            account.beginScan()
            try await account.list("/", etag: "r2", entries: root("2"))
            for name in order {
                let inside = name == "/origin" ? [] : [try file("\(name)/y", id: "Y", etag: "1")]
                try await account.list(name, etag: "2", entries: inside)
            }
            let (one, two) = (try await account.item("/direct/y"), try await account.item("/group/y"))
            #expect(one != nil && two != nil && one?.localID != two?.localID)
            #expect([one, two].count { $0?.localID == before.localID && $0?.cloudStatus == .localCopy } == 1)
            #expect(try await account.moves().count == 1)
            #expect(try await account.item("/origin/y") == nil)
        }
    }

    @Test(
        "I17: a second place takes nothing from the first, whether that is listed before it, after it or not at all",
        arguments: ["before", "after", "not"])
    func secondPlace(_ first: String) async throws {
        try await withAccount { account in
            let x = try file("/a/x", id: "X", etag: "1")
            try await account.list(
                "/", etag: "r1", folder("/a", id: "a", etag: "a1"), folder("/b", id: "b", etag: "b1"))
            try await account.list("/a", etag: "a1", x)
            try await account.list("/b", etag: "b1")
            try await account.giveCopy("/a/x")
            let before = try #require(try await account.item("/a/x"))
            account.beginScan()
            if first == "before" { try await account.list("/a", etag: "a1", x) }
            let result = try await account.list("/b", etag: "b2", file("/b/x", id: "X", etag: "1"))
            if first == "not" {
                // Until the first place was listed, nothing is decided, and the folder does not count as listed.
                let places = Set([try ItemPath("/a")])
                #expect(result.held != nil && result.unknownPlaces == places)
                let (row, jobs) = try await account.database.read { tx in
                    (try tx.items.scanRow(at: ItemPath("/b")), try tx.scan.jobs())
                }
                #expect(row?.listedETag == nil && jobs.map(\.path.text) == ["/b"])
                #expect(try await account.item("/b/x") == nil)
            } else {
                if first == "after" { try await account.list("/a", etag: "a1", x) }
                let second = try #require(try await account.item("/b/x"))
                #expect(second.localID != before.localID && second.cloudStatus == .cloudOnly)
                let row = try await account.database.read { try $0.items.scanRow(at: ItemPath("/b")) }
                #expect(row?.listedETag == "b2")
                #expect(try await account.database.read { try $0.scan.jobs() }.isEmpty)
            }
            #expect(try await account.item("/a/x")?.copy == before.copy)
            #expect(try await account.moves().isEmpty)
        }
    }

    @Test(
        "names that a server stores decomposed are one item, unless both forms stand in one listing",
        arguments: [nil, "x"], [false, true])
    func decomposedName(id: String?, both: Bool) async throws {
        try await withAccount { account in
            let (nfc, nfd) = ("/\u{e9}.txt", "/e\u{301}.txt")
            let composed = try file(nfc, id: id, etag: "1")
            try await account.list("/", etag: "r1", composed)
            try await account.giveCopy(nfc)
            let before = try #require(try await account.item(nfc))
            for etag in ["r2", "r3"] {
                account.beginScan()
                let decomposed = try file(nfd, id: both ? id.map { $0 + "2" } : id, etag: "1")
                try await account.list("/", etag: etag, entries: both ? [decomposed, composed] : [decomposed])
                let now = try #require(try await account.item(nfd))
                #expect((now.localID == before.localID) == !both && (now.cloudStatus == .localCopy) == !both)
                #expect(try await account.item(nfc)?.localID == (both ? before.localID : nil))
            }
            #expect(try await account.moves().count == (both ? 0 : 1))
        }
    }

    @Test("I6, I12: a renamed folder is listed again whole if something below it never was")
    func renameOfUnlisted() async throws {
        try await withAccount { account in
            try await account.list(
                "/", etag: "r1", folder("/p", id: "p", etag: "p1"), folder("/pq", id: "pq", etag: "q1"))
            try await account.list("/p", etag: "p1", folder("/p/a", id: "a", etag: "a1"))
            try await account.list("/p/a", etag: "a1", folder("/p/a/b", id: "b", etag: "b1"))
            account.beginScan()
            var result = try await account.list(
                "/", etag: "r2", folder("/n", id: "p", etag: "p1"), folder("/pq", id: "pq", etag: "q1"))
            let job = ScanJob(path: try ItemPath("/n"), isWhole: true)
            #expect(result.jobs.contains(job))
            try await account.list("/n/a/b", etag: "b1")
            account.beginScan()
            result = try await account.list(
                "/", etag: "r3", folder("/m", id: "p", etag: "p1"), folder("/pq", id: "pq", etag: "q1"))
            #expect(result.jobs.map(\.path.text) == ["/pq"])
        }
    }

    @Test("S35: a copy whose version is listed with another size counts as changed here, and a person is told")
    func contradictedCopy() async throws {
        for (etag, size, isContradicted) in [("1", Int64(1), false), ("1", 500, true), ("2", 500, false)] {
            try await withAccount { account in
                try await account.list("/", etag: "r1", file("/x", id: "1", etag: "1"))
                try await account.giveCopy("/x")
                account.beginScan()
                try await account.list("/", etag: "r2", file("/x", id: "1", etag: etag, size: size))
                let item = try #require(try await account.item("/x"))
                #expect(item.cloudStatus == (isContradicted ? .locallyModified : .localCopy), "\(etag) \(size)")
                #expect((item.copy == nil) == isContradicted)
                let issues = try await account.database.read { try $0.issues.all() }
                #expect(issues.map(\.code) == (isContradicted ? ["copy.contradicted"] : []))
            }
        }
    }

    @Test("I7: another file at the same path is another item")
    func replaced() async throws {
        try await withAccount { account in
            try await account.list("/", etag: "r1", file("/x", id: "1", etag: "1"))
            try await account.giveCopy("/x")
            let before = try #require(try await account.item("/x"))
            account.beginScan()
            try await account.list("/", etag: "r2", file("/x", id: "2", etag: "2"))
            let after = try #require(try await account.item("/x"))
            #expect(after.localID != before.localID)
            #expect(after.cloudStatus == .cloudOnly)
            let old = try #require(try await account.database.read { try $0.items.item(localID: before.localID) })
            #expect(old.isRemoved && old.copy == before.copy)
        }
    }

    @Test(
        "I8: removing a folder leaves its namesakes",
        arguments: [["/a_b", "/axb"], ["/Docs", "/docs"], ["/a", "/ab"]])
    func removalIsExact(names: [String]) async throws {
        try await withAccount { account in
            let entries = try names.map { try folder($0, id: $0, etag: "1") }
            try await account.list("/", etag: "r1", entries[0], entries[1])
            for name in names { try await account.list(name, etag: "1", file(name + "/x", id: name + "x", etag: "1")) }
            account.beginScan()
            try await account.list("/", etag: "r2", entries[1])
            #expect(try await account.item(names[0] + "/x") == nil)
            #expect(try await account.item(names[0]) == nil)
            #expect(try await account.item(names[1] + "/x") != nil)
        }
    }

    @Test("I9: what is changed here stays, and shows that the server has a newer version")
    func localWork() async throws {
        try await withAccount { account in
            try await account.list("/", etag: "r1", file("/x", id: "x", etag: "1"))
            try await account.giveCopy("/x", modified: true)
            account.beginScan()
            try await account.list("/", etag: "r2", file("/x", id: "x", etag: "2"))
            var item = try #require(try await account.item("/x"))
            #expect(item.cloudStatus == .locallyModified)
            #expect(item.remoteVersion == .newer)
            account.beginScan()
            try await account.list("/", etag: "r3")
            try await account.database.write { try $0.items.keepModifiedOfRemoved() }
            item = try #require(try await account.item("/x"))
            #expect(item.cloudStatus == .localOnly && item.fileID == nil)
        }
    }

    @Test("I9: another item at the path of a changed file takes it over, unsent")
    func localWorkAtReplacedPath() async throws {
        try await withAccount { account in
            try await account.list("/", etag: "r1", file("/x", id: "1", etag: "1"))
            try await account.giveCopy("/x", modified: true)
            account.beginScan()
            try await account.list("/", etag: "r2", file("/x", id: "2", etag: "2"))
            let item = try #require(try await account.item("/x"))
            #expect(item.fileID == FileID("2") && item.cloudStatus == .locallyModified && item.copy == nil)
        }
    }

    @Test(
        "I9: work that waits for an item outlives what a scan finds of it: another version, another place, nothing",
        arguments: [SyncRecord.Action.download, .removeLocalCopy(restoringFormerTrigger: true)])
    func liveRecord(_ action: SyncRecord.Action) async throws {
        try await withAccount { account in
            try await account.list(
                "/", etag: "r1", folder("/a", id: "a", etag: "a1"), folder("/b", id: "b", etag: "b1"))
            try await account.list("/a", etag: "a1", file("/a/x", id: "x", etag: "1"))
            try await account.list("/b", etag: "b1")
            try await account.giveCopy("/a/x")
            let (item, expected) = try await account.addWork(action, to: "/a/x")

            account.beginScan()
            try await account.list("/a", etag: "a2", file("/a/x", id: "x", etag: "2", size: 5))
            var found = try #require(try await account.work(of: item.localID))
            #expect(found.records == expected)
            #expect(found.item.localPart == item.localPart)
            // Only the server's part of the item is new.
            #expect(found.item.etag == ETag(field: "2") && found.item.size == 5 && found.item.remoteVersion == .newer)

            account.beginScan()
            try await account.list("/b", etag: "b2", file("/b/y", id: "x", etag: "2", size: 5))
            try await account.list("/a", etag: "a3")
            found = try #require(try await account.work(of: item.localID))
            var moved = expected
            moved[0].path = try ItemPath("/b/y")
            #expect(found.records == moved)
            #expect(found.item.path.text == "/b/y" && found.item.localPart == item.localPart)

            account.beginScan()
            try await account.list("/b", etag: "b3", file("/b/y", id: "other", etag: "9"))
            found = try #require(try await account.work(of: item.localID))
            #expect(found.records == moved)
            #expect(found.item.isRemoved && found.item.localPart == item.localPart)
            // The path belongs to the other item now, and that item takes over no part of the first one.
            let other = try #require(try await account.item("/b/y"))
            #expect(other.localID != item.localID && other.cloudStatus == .cloudOnly && other.syncActivity == [])
        }
    }

    @Test("I11: a folder that is back is listed again, with all below, and keeps its row")
    func restored() async throws {
        try await withAccount { account in
            try await account.list("/", etag: "r1", folder("/a", id: "a", etag: "a1"))
            try await account.list("/a", etag: "a1", file("/a/x", id: "x", etag: "1"))
            let before = try #require(try await account.item("/a/x"))
            account.beginScan()
            try await account.list("/", etag: "r2")
            account.beginScan()
            let result = try await account.list("/", etag: "r1", folder("/a", id: "a", etag: "a1"))
            #expect(result.jobs == [ScanJob(path: try ItemPath("/a"), isWhole: true)])
            try await account.list("/a", etag: "a1", whole: true, file("/a/x", id: "x", etag: "1"))
            #expect(try await account.item("/a/x")?.localID == before.localID)
        }
    }

    @Test("I14: without ids a path is the identity, and a folder is no file", arguments: [Item.Kind.file, .folder])
    func substitutes(kind: Item.Kind) async throws {
        try await withAccount { account in
            try await account.list("/", etag: "r1", file("/x", id: nil, etag: "1"))
            let before = try #require(try await account.item("/x"))
            #expect(before.fileID?.isFromServer == false)
            account.beginScan()
            try await account.list(
                "/", etag: "r2", kind == .file ? file("/x", id: nil, etag: "2") : folder("/x", id: nil, etag: "2"))
            let after = try #require(try await account.item("/x"))
            #expect((after.localID == before.localID) == (kind == .file))
            account.beginScan()
            try await account.list("/", etag: "r3", file("/y", id: nil, etag: "2"))
            #expect(try await account.item("/y")?.localID != after.localID)
        }
    }

    @Test("An ETag that loses its weakness within a second of the write is no new version")
    func weakBecomesStrong() async throws {
        try await withAccount { account in
            let now = account.started.seconds
            try await account.list("/", etag: "r1", file("/x", id: nil, etag: "W/\"1\"", changed: now))
            try await account.giveCopy("/x")
            account.beginScan()
            let result = try await account.list(
                "/", etag: "r1", whole: true, file("/x", id: nil, etag: "\"1\"", changed: now))
            #expect(!result.changed)
            #expect(try await account.item("/x")?.remoteVersion == .current)
        }
    }

    @Test("A file that changed within a second of its listing is fetched once more")
    func race() async throws {
        try await withAccount { account in
            let now = account.started.seconds
            try await account.list("/", etag: "r1", file("/x", id: nil, etag: "\"1\"", changed: now))
            try await account.giveCopy("/x")
            account.beginScan()
            // Each scan asks for the copy until the copy has been fetched. The copy is of the server's version
            // throughout.
            for _ in 1...2 {
                try await account.list("/", etag: "r1", file("/x", id: nil, etag: "\"1\"", changed: now))
                let item = try #require(try await account.item("/x"))
                #expect(item.remoteVersion == .current && account.takeFetchedAgain() == [item.localID])
                account.beginScan()
            }
            try await account.giveCopy("/x")
            let fetched = try #require(try await account.item("/x"))
            try await account.database.write { _ = try $0.items.updateDownloaded(fetched) }
            try await account.list("/", etag: "r1", file("/x", id: nil, etag: "\"1\"", changed: now))
            #expect(account.takeFetchedAgain() == [])
        }
    }
}

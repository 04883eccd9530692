import Connection
import Database
import Model
import TestSupport
import Testing

@testable import ItemList

@Suite("A folder's listing becomes rows")
struct FolderMergeTests {
    @Test("I2: only folders with another ETag are listed next")
    func descent() async throws {
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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

    @Test("I18: a folder with an entry about which the server told an error does not count as listed")
    func unknownEntry() async throws {
        try await ListedAccount.with { account in
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

    @Test("I7: another file at the same path is another item")
    func replaced() async throws {
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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

    @Test("I11: a folder that is back is listed again, with all below, and keeps its row")
    func restored() async throws {
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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

    @Test("S35: a copy whose version is listed with another size counts as changed here, and a person is told")
    func contradictedCopy() async throws {
        for (etag, size, isContradicted) in [("1", Int64(1), false), ("1", 500, true), ("2", 500, false)] {
            try await ListedAccount.with { account in
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

    @Test("S35: what is listed of a later version does not contradict a copy of an earlier one")
    func earlierCopy() async throws {
        try await ListedAccount.with { account in
            try await account.list("/", etag: "r1", file("/x", id: "1", etag: "1"))
            try await account.giveCopy("/x")
            for (etag, size) in [("r2", Int64(2)), ("r3", 500)] {
                account.beginScan()
                try await account.list("/", etag: etag, file("/x", id: "1", etag: "2", size: size))
            }
            let item = try #require(try await account.item("/x"))
            #expect(item.cloudStatus == .localCopy && item.copy?.etag.opaque == "1" && item.remoteVersion != .current)
            #expect(try await account.database.read { try $0.issues.all() }.isEmpty)
        }
    }

    @Test(
        "names that a server stores decomposed are one item, unless both forms stand in one listing",
        arguments: [nil, "x"], [false, true])
    func decomposedName(id: String?, both: Bool) async throws {
        try await ListedAccount.with { account in
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
}

import Connection
import Database
import Model
import Testing

@testable import ItemList

/// One id at two places of a scan.
@Suite struct TwoPlacesTests {
    /// Lists two folders that hold the same items, one of them twice, in an order.
    private func listTwins(
        _ account: inout ListedAccount, _ names: [String], etag: String, _ files: [String: String]
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
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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

    @Test("I17: of two items with one id that are gone, the one that was at the path comes back, whichever went last")
    func backInPlace() async throws {
        try await ListedAccount.with { account in
            let names = ["/direct", "/group"]
            _ = try await listTwins(&account, names, etag: "1", ["a": "A"])
            let one = try #require(try await account.item("/direct/a")).localID
            for (name, etag) in [("/direct", "2"), ("/group", "3")] {
                account.beginScan()
                try await account.list(name, etag: etag)
                #expect(try await account.item(name + "/a") == nil)
            }
            account.beginScan()
            _ = try await listTwins(&account, ["/direct"], etag: "4", ["a": "A"])
            #expect(try await account.item("/direct/a")?.localID == one)
        }
    }

    @Test(
        "I17: a second place takes nothing from the first, whether that is listed before it, after it or not at all",
        arguments: ["before", "after", "not"])
    func secondPlace(_ first: String) async throws {
        try await ListedAccount.with { account in
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
}

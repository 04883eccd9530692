import Database
import Model
import Testing

@testable import ItemList

/// What is here, and is under way, when a listing tells something else.
@Suite struct LocalWorkTests {
    @Test("I9: what is changed here stays, and shows that the server has a newer version")
    func localWork() async throws {
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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
}

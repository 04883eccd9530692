import Database
import Model
import Testing

@testable import ItemList

/// Items that a listing finds at another place.
@Suite struct MovedItemTests {
    @Test(
        "I5: a file found elsewhere with its id keeps its row, whichever folder is listed first",
        arguments: [true, false])
    func move(oldFirst: Bool) async throws {
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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

    @Test("I6, I12: a renamed folder is listed again whole if something below it never was")
    func renameOfUnlisted() async throws {
        try await ListedAccount.with { account in
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
}

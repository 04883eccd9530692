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

    @Test(
        "I18: what is queued goes where its item went, also from below a folder whose place an item of its own took",
        arguments: [true, false])
    func recordsOfTakenPlace(takerFirst: Bool) async throws {
        try await ListedAccount.with { account in
            try await account.list("/", etag: "r1", folder("/d", id: "d", etag: "d1"))
            try await account.list(
                "/d", etag: "d1", folder("/d/c", id: "c", etag: "c1"), file("/d/f", id: "f", etag: "1"),
                file("/d/z", id: "other", etag: "1"))
            try await account.list("/d/c", etag: "c1", file("/d/c/z", id: "z", etag: "1"))
            var queued: [LocalID: String] = [:]
            for (path, new) in [("/d/f", "/e/f"), ("/d/z", "/e/z"), ("/d/c", "/d"), ("/d/c/z", "/d/z")] {
                queued[try await account.addWork(.setFavorite(true), to: path).0.localID] = new
            }
            account.beginScan()
            // The folder went to /e, and what was in it to /d.
            try await account.list(
                "/", etag: "r2", folder("/d", id: "c", etag: "c1"), folder("/e", id: "d", etag: "d2"))
            let taker = try file("/d/z", id: "z", etag: "1")
            if takerFirst { try await account.list("/d", etag: "c1", taker) }
            try await account.list(
                "/e", etag: "d2", file("/e/f", id: "f", etag: "1"), file("/e/z", id: "other", etag: "1"))
            if !takerFirst { try await account.list("/d", etag: "c1", taker) }
            for (id, path) in queued {
                let work = try #require(try await account.work(of: id))
                #expect(work.item.path.text == path)
                #expect(work.records.map(\.path.text) == [path])
            }
        }
    }
}

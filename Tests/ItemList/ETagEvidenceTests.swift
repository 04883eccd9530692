import Database
import Model
import Testing

@testable import ItemList

/// What listings show about the server's ETags.
@Suite struct ETagEvidenceTests {
    @Test("I3: a change below an unchanged ETag is told", arguments: [true, false])
    func contradiction(sameETag: Bool) async throws {
        try await ListedAccount.with { account in
            try await account.list("/", etag: "r1", whole: true, file("/x", id: "x", etag: "1"))
            account.beginScan()
            let result = try await account.list(
                "/", etag: sameETag ? "r1" : "r2", whole: true, file("/x", id: "x", etag: "2"))
            #expect(result.evidence.contradicts == sameETag)
        }
    }

    @Test("I3: an ETag that changed with that of a folder below has told of a change there", arguments: [true, false])
    func told(below: Bool) async throws {
        try await ListedAccount.with { account in
            try await account.list("/", etag: "r1", folder("/a", id: "a", etag: "a1"), file("/x", id: "x", etag: "1"))
            account.beginScan()
            let result = try await account.list(
                "/", etag: "r2", whole: true, folder("/a", id: "a", etag: below ? "a2" : "a1"),
                file("/x", id: "x", etag: below ? "1" : "2"))
            #expect(result.evidence == ETagTrust.Evidence(tells: below))
        }
    }

    @Test("I3: a mark as a favorite, of which no ETag tells, shows nothing about the ETags", arguments: ["r1", "r2"])
    func marked(_ etag: String) async throws {
        try await ListedAccount.with { account in
            var (a, x) = (try folder("/a", id: "a", etag: "a1"), try file("/x", id: "x", etag: "1"))
            try await account.list("/", etag: "r1", whole: true, a, x)
            account.beginScan()
            (a.isFavorite, x.isFavorite) = (true, true)
            let result = try await account.list("/", etag: etag, whole: true, a, x)
            #expect(result.changed && result.evidence == ETagTrust.Evidence())
        }
    }

    @Test("An ETag that loses its weakness within a second of the write is no new version")
    func weakBecomesStrong() async throws {
        try await ListedAccount.with { account in
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
        try await ListedAccount.with { account in
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

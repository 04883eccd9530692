import Database
import ItemList
import Model
import TestServer
import TestSupport
import Testing

@testable import Core

@Suite("Version updates, end to end")
struct VersionUpdatesTests {
    private func withOutdated(
        _ claims: Claim.Kind?, isolation: isolated (any Actor)? = #isolation,
        _ body: (AccountFixture) async throws -> Void
    ) async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "first")
            try await fixture.runWell()
            try await fixture.download("/a")
            try await fixture.runWell()
            let item = try #require(try await fixture.item("/a"))
            if let claims {
                try await fixture.host.database.write { tx in
                    try tx.claims.add(Claim(item: item.localID, kind: claims, validity: .explicit))
                }
            }
            fixture.put("/a", "second")
            try await body(fixture)
        }
    }

    @Test("P41: a copy that the server has newer, and that nobody needs, goes")
    func unclaimed() async throws {
        try await withOutdated(nil) { fixture in
            try await fixture.runWell()
            #expect(try fixture.tree() == [])
            #expect(fixture.downloads == [])
            #expect(try await fixture.item("/a")?.cloudStatus == .cloudOnly)
        }
    }

    @Test("P42: one that is claimed for reading is brought up to date, and keeps its trigger and its claim")
    func readClaim() async throws {
        try await withOutdated(.read) { fixture in
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "second")
            #expect(fixture.downloads == ["/a"])
            let item = try #require(try await fixture.item("/a"))
            #expect(item.downloadTrigger == .user && item.formerTrigger == nil && item.remoteVersion == .current)
            #expect(try await fixture.host.database.read { try $0.claims.of(item.localID) }.count == 1)
            try await fixture.runWell()
            #expect(fixture.downloads == [])
        }
    }

    @Test(
        "P43: one that is claimed for writing or deleting is left alone, and the newer version is shown",
        arguments: [Claim.Kind.write, .delete])
    func otherClaim(_ kind: Claim.Kind) async throws {
        try await withOutdated(kind) { fixture in
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "first")
            #expect(fixture.downloads == [])
            #expect(try await fixture.item("/a")?.remoteVersion == .newer)
        }
    }

    @Test("P44: one that was changed here is neither removed nor replaced")
    func changed() async throws {
        try await withOutdated(nil) { fixture in
            try Files.write("mine", to: fixture.local("/a"))
            try await fixture.runWell()
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "mine")
            #expect(try await fixture.item("/a")?.remoteVersion == .newer)
        }
    }

    @Test("P28: a pinned one is brought up to date by available offline alone, without a gap")
    func pinned() async throws {
        try await withOutdated(nil) { fixture in
            try await fixture.pin("/a")
            let hold = fixture.server.add(Fault(.hold(), method: "GET", path: "/a"))
            let host = try await fixture.ready()
            let run = Task { await host.runOnce() }
            await fixture.server.untilHeld(hold)
            #expect(try fixture.text("/a") == "first")
            fixture.server.remove(hold)
            _ = await run.value
            #expect(try fixture.text("/a") == "second")
            #expect(fixture.downloads.count == 1)
        }
    }
}

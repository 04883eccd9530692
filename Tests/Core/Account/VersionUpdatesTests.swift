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
        _ claims: Claim.Kind?, isolation: isolated (any Actor)? = #isolation, _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.running { bench in
            bench.put("/a", "first")
            try await bench.runWell()
            try await bench.download("/a")
            try await bench.runWell()
            let item = try #require(try await bench.item("/a"))
            if let claims {
                try await bench.host.database.write { tx in
                    try tx.claims.add(Claim(item: item.localID, kind: claims, validity: .explicit))
                }
            }
            bench.put("/a", "second")
            try await body(bench)
        }
    }

    @Test("P41: a copy that the server has newer, and that nobody needs, goes")
    func unclaimed() async throws {
        try await withOutdated(nil) { bench in
            try await bench.runWell()
            #expect(try bench.tree() == [])
            #expect(bench.downloads == [])
            #expect(try await bench.item("/a")?.cloudStatus == .cloudOnly)
        }
    }

    @Test("P42: one that is claimed for reading is brought up to date, and keeps its trigger and its claim")
    func readClaim() async throws {
        try await withOutdated(.read) { bench in
            try await bench.runWell()
            #expect(try bench.text("/a") == "second")
            #expect(bench.downloads == ["/a"])
            let item = try #require(try await bench.item("/a"))
            #expect(item.downloadTrigger == .user && item.formerTrigger == nil && item.remoteVersion == .current)
            #expect(try await bench.host.database.read { try $0.claims.of(item.localID) }.count == 1)
            try await bench.runWell()
            #expect(bench.downloads == [])
        }
    }

    @Test(
        "P43: one that is claimed for writing or deleting is left alone, and the newer version is shown",
        arguments: [Claim.Kind.write, .delete])
    func otherClaim(_ kind: Claim.Kind) async throws {
        try await withOutdated(kind) { bench in
            try await bench.runWell()
            #expect(try bench.text("/a") == "first")
            #expect(bench.downloads == [])
            #expect(try await bench.item("/a")?.remoteVersion == .newer)
        }
    }

    @Test("P44: one that was changed here is neither removed nor replaced")
    func changed() async throws {
        try await withOutdated(nil) { bench in
            try Files.write("mine", to: bench.local("/a"))
            try await bench.runWell()
            try await bench.runWell()
            #expect(try bench.text("/a") == "mine")
            #expect(try await bench.item("/a")?.remoteVersion == .newer)
        }
    }

    @Test("P28: a pinned one is brought up to date by available offline alone, without a gap")
    func pinned() async throws {
        try await withOutdated(nil) { bench in
            try await bench.pin("/a")
            let hold = bench.server.add(Fault(.hold(), method: "GET", path: "/a"))
            let host = try await bench.ready()
            let run = Task { await host.runOnce() }
            await bench.server.untilHeld(hold)
            #expect(try bench.text("/a") == "first")
            bench.server.remove(hold)
            _ = await run.value
            #expect(try bench.text("/a") == "second")
            #expect(bench.downloads.count == 1)
        }
    }
}

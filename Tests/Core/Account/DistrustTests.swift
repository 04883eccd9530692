import Database
import ItemList
import LocalTree
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core

/// Copies that may hold the first of two contents with one ETag.
struct DistrustTests {
    /// A copy of `/a` whose server has another content by now, under the same ETag, size and date, since both were written within
    /// the second of the first listing.
    private func withRacedCopy(
        isolation: isolated (any Actor)? = #isolation, _ body: (Bench) async throws -> Void
    ) async throws {
        var manner = Manner.plain
        manner.fileETags = .ofSizeAndSecond
        try await Bench.running(manner) { bench in
            bench.put("/a", "one")
            try await bench.runWell()
            try await bench.download("/a")
            try await bench.runWell()
            bench.put("/a", "two")
            try await bench.host.database.write { tx in
                let row = try #require(try tx.items.scanRow(at: ItemPath(unchecked: "/a")))
                try tx.items.renewListed(row, etag: row.etag, racy: .yes)
            }
            try await body(bench)
        }
    }

    @Test("P41, S15: a copy that may be the first of two contents stays until it was fetched once more")
    func fetchedAgain() async throws {
        try await withRacedCopy { bench in
            let fault = bench.server.add(Fault(.status(403), method: "GET"))
            try await bench.runBadly()
            #expect(try bench.text("/a") == "one")
            var item = try #require(try await bench.item("/a"))
            #expect(item.cloudStatus == .localCopy && item.remoteVersion == .current)
            #expect(try await bench.records().map(\.action) == [.download])

            bench.server.remove(fault)
            let issue = try #require(try await bench.issues().first)
            #expect(try await bench.host.engine.resolve(issue.id, choice: "retry"))
            try await bench.runWell()
            #expect(bench.downloads == ["/a"])
            #expect(try bench.text("/a") == "two")
            item = try #require(try await bench.item("/a"))
            #expect(item.cloudStatus == .localCopy && item.remoteVersion == .current && item.syncActivity == [])
            #expect(item.downloadTrigger == .user && item.formerTrigger == nil)
            try await bench.runWell()
            #expect(bench.downloads == [])
        }
    }

    @Test("P41: offline the copy serves, and is as good as any that is of the server's version")
    func offline() async throws {
        try await withRacedCopy { bench in
            let fault = bench.server.add(Fault(.status(503), method: "GET"))
            try await bench.runBadly()
            guard case .done = try await bench.download("/a") else { throw SetupError("it is asked for") }
            bench.server.remove(fault)
            // It may have been tried so often that a person is asked, or wait for its next try.
            for issue in try await bench.issues() {
                #expect(try await bench.host.engine.resolve(issue.id, choice: "retry"))
            }
            bench.clock.advance(.seconds(600))
            try await bench.runWell()
            #expect(try bench.text("/a") == "two")
        }
    }

    @Test("P43: one that is claimed for writing is left alone until it is not any more")
    func claimed() async throws {
        try await withRacedCopy { bench in
            let item = try #require(try await bench.item("/a"))
            let claim = Claim(item: item.localID, kind: .write, validity: .explicit)
            try await bench.host.database.write { try $0.claims.add(claim) }
            try await bench.runWell()
            #expect(try bench.text("/a") == "one")
            #expect(bench.downloads == [])
            try await bench.host.database.write { try $0.claims.remove(claim.id) }
            try await bench.runWell()
            #expect(try bench.text("/a") == "two")
        }
    }

    @Test("P44: one that was changed here meanwhile stays, and no person is asked about a download that nobody wanted")
    func changed() async throws {
        try await withRacedCopy { bench in
            let hold = bench.server.add(Fault(.hold(), method: "GET", path: "/a"))
            let host = try await bench.ready()
            let run = Task { await host.runOnce() }
            await bench.server.untilHeld(hold)
            try Files.write("mine", to: bench.local("/a"))
            bench.server.remove(hold)
            let outcome = await run.value
            #expect(outcome.issues.isEmpty)
            #expect(try bench.text("/a") == "mine")
            let item = try #require(try await bench.item("/a"))
            #expect(item.cloudStatus == .locallyModified && item.syncActivity == [])
            #expect(try await bench.records() == [])
        }
    }
}

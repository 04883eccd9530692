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

/// Tests of copies that may hold the first of two contents with the same ETag.
struct DistrustTests {
    /// Runs `body` with a copy of `/a`. The server has another content by now, under the same ETag, size and date,
    /// since both contents were written within the second of the first listing.
    private func withRacedCopy(
        isolation: isolated (any Actor)? = #isolation, _ body: (AccountFixture) async throws -> Void
    ) async throws {
        var manner = Manner.plain
        manner.fileETags = .ofSizeAndSecond
        try await AccountFixture.running(manner, clock: .account(patience: .seconds(15))) { fixture in
            fixture.put("/a", "one")
            try await fixture.runWell()
            try await fixture.download("/a")
            try await fixture.runWell()
            fixture.put("/a", "two")
            try await fixture.host.database.write { tx in
                let row = try #require(try tx.items.scanRow(at: ItemPath(unchecked: "/a")))
                try tx.items.renewListed(row, etag: row.etag, racy: .yes)
            }
            try await body(fixture)
        }
    }

    @Test("P41, S15: a copy that may be the first of two contents stays until it was fetched once more")
    func fetchedAgain() async throws {
        try await withRacedCopy { fixture in
            let fault = fixture.server.add(Fault(.status(403), method: "GET"))
            try await fixture.runBadly()
            #expect(try fixture.text("/a") == "one")
            var item = try #require(try await fixture.item("/a"))
            #expect(item.cloudStatus == .localCopy && item.remoteVersion == .current)
            #expect(try await fixture.records().map(\.action) == [.download])

            fixture.server.remove(fault)
            let issue = try #require(try await fixture.issues().first)
            #expect(try await fixture.host.engine.resolve(issue.id, choice: "retry"))
            try await fixture.runWell()
            #expect(fixture.downloads == ["/a"])
            #expect(try fixture.text("/a") == "two")
            item = try #require(try await fixture.item("/a"))
            #expect(item.cloudStatus == .localCopy && item.remoteVersion == .current && item.syncActivity == [])
            #expect(item.downloadTrigger == .user && item.formerTrigger == nil)
            try await fixture.runWell()
            #expect(fixture.downloads == [])
        }
    }

    @Test("P41: offline the copy serves, and is as good as any that is of the server's version")
    func offline() async throws {
        try await withRacedCopy { fixture in
            let fault = fixture.server.add(Fault(.status(503), method: "GET"))
            try await fixture.runBadly()
            guard case .done = try await fixture.download("/a") else { throw SetupError("it is asked for") }
            fixture.server.remove(fault)
            // The download may have been tried so often that a person is asked, or it may wait for its next try.
            for issue in try await fixture.issues() {
                #expect(try await fixture.host.engine.resolve(issue.id, choice: "retry"))
            }
            fixture.clock.advance(.seconds(600))
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "two")
        }
    }

    @Test("P43: one that is claimed for writing is left alone until it is not any more")
    func claimed() async throws {
        try await withRacedCopy { fixture in
            let item = try #require(try await fixture.item("/a"))
            let claim = Claim(item: item.localID, kind: .write, validity: .explicit)
            try await fixture.host.database.write { try $0.claims.add(claim) }
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "one")
            #expect(fixture.downloads == [])
            try await fixture.host.database.write { try $0.claims.remove(claim.id) }
            try await fixture.runWell()
            #expect(try fixture.text("/a") == "two")
        }
    }

    @Test("P44: one that was changed here meanwhile stays, and no person is asked about a download that nobody wanted")
    func changed() async throws {
        try await withRacedCopy { fixture in
            let hold = fixture.server.add(Fault(.hold(), method: "GET", path: "/a"))
            let host = try await fixture.ready()
            let run = Task { await host.runOnce() }
            await fixture.server.untilHeld(hold)
            try Files.write("mine", to: fixture.local("/a"))
            fixture.server.remove(hold)
            let outcome = await run.value
            #expect(outcome.issues.isEmpty)
            #expect(try fixture.text("/a") == "mine")
            let item = try #require(try await fixture.item("/a"))
            #expect(item.cloudStatus == .locallyModified && item.syncActivity == [])
            #expect(try await fixture.records() == [])
        }
    }
}

import Database
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of claims that are made after the request for an action that they forbid.
struct ClaimsAtTheActTests {
    private func claim(_ fixture: EngineFixture, _ item: Item, _ kind: Claim.Kind) async throws {
        let claim = Claim(id: ClaimID("job"), item: item.localID, kind: kind, validity: .explicit)
        try await fixture.database.write { try $0.claims.add(claim) }
    }

    private func unclaim(_ fixture: EngineFixture) async throws {
        try await fixture.database.write { try $0.claims.remove(ClaimID("job")) }
        fixture.clock.advance(.seconds(60))
    }

    private func withOutdated(
        for reason: DownloadTrigger, _ body: (EngineFixture, Item) async throws -> Void
    ) async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "old")
            try await fixture.ask(.download, file, for: reason)
            #expect(try await fixture.drain().isDone)
            try await fixture.change(file, "newer", version: "v2")
            try await body(fixture, file)
        }
    }

    private func expectOld(_ fixture: EngineFixture, _ file: Item) async throws {
        #expect(try fixture.text("/a") == "old")
        let item = try await fixture.now(file)
        #expect(item.cloudStatus == .localCopy && item.remoteVersion == .newer)
    }

    @Test("P43: a download that was queued before the copy was claimed for writing sends no GET and replaces nothing")
    func queuedBefore() async throws {
        try await withOutdated(for: .availableOffline) { fixture, file in
            try await fixture.ask(.download, file, for: .availableOffline)
            try await claim(fixture, file, .write)
            #expect(try await fixture.drain().isDone)
            try await expectOld(fixture, file)
            #expect(fixture.source.requests.count == 1)
            #expect(try await fixture.now(file).syncActivity == [])
            try await unclaim(fixture)
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "newer")
        }
    }

    @Test("P43: nor does one under way when the claim is made; a person's waits for its end", arguments: [false, true])
    func underWay(isPersons: Bool) async throws {
        let reason = isPersons ? DownloadTrigger.user : .availableOffline
        try await withOutdated(for: reason) { fixture, file in
            let gate = Gate()
            fixture.source.then(file.path, .hold(gate))
            try await fixture.ask(.download, file, for: reason)
            async let outcome = fixture.drain()
            await gate.untilReached()
            try await claim(fixture, file, .write)
            gate.open()
            #expect(try await outcome.leftCount == (isPersons ? 1 : 0))
            try await expectOld(fixture, file)
            try await unclaim(fixture)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == (isPersons ? "newer" : "old"))
        }
    }

    @Test("P43: a person who asks for what is claimed for writing is told so")
    func personIsTold() async throws {
        try await withOutdated(for: .user) { fixture, file in
            try await claim(fixture, file, .write)
            guard case .refused(let failure) = try await fixture.ask(.download, file) else {
                throw SetupError("not refused")
            }
            #expect(failure.message.contains("is claimed (write, job)"))
            try await expectOld(fixture, file)
        }
    }

    @Test(
        "P28: claimed for reading or against deletion, a pinned copy is brought up to date",
        arguments: [Claim.Kind.read, .delete])
    func otherClaims(_ kind: Claim.Kind) async throws {
        try await withOutdated(for: .availableOffline) { fixture, file in
            try await claim(fixture, file, kind)
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "newer")
        }
    }

    /// Calls `body` with a claimed copy of an item that is gone from the server, and with another item at `path`, which
    /// is the copy's path or a path below it.
    private func withNewcomer(
        _ text: String, at path: String, _ body: (EngineFixture, Item, Item) async throws -> Void
    ) async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "old")
            try await fixture.ask(.download, file)
            #expect(try await fixture.drain().isDone)
            try await fixture.database.write { tx in
                _ = try tx.scan.noteMissing(file.databaseID)
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            try await claim(fixture, file, .delete)
            try await body(fixture, file, try await fixture.addFile(path, text, version: "v2"))
        }
    }

    @Test(
        "P58: a claimed copy of an item that is gone does not make way for another item, which waits until the claim is over",
        arguments: ["/a", "/a/below"])
    func newcomer(_ path: String) async throws {
        try await withNewcomer("another", at: path) { fixture, gone, newcomer in
            try await fixture.ask(.download, newcomer)
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.path.text) == [path])
            let why = try #require(outcome.left.first?.why)
            #expect(why.contains(path == "/a" ? "is claimed (delete, job)" : "until vacuum removes it"), "\(why)")
            // A purge does not remove a claimed copy either.
            try await fixture.ask(.purge, gone, for: .availableOffline)
            #expect(try await fixture.drain().leftCount == 1)
            #expect(try fixture.text("/a") == "old")
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.now(newcomer).cloudStatus == .cloudOnly)
            #expect(try await fixture.now(gone).cloudStatus == .localCopy)
            try await unclaim(fixture)
            try await fixture.ask(.purge, gone, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text(path) == "another")
            // The engine sends one request for the item that is gone and one for the newcomer, however long the
            // newcomer waited.
            #expect(fixture.source.requests.count == 2)
        }
    }
}

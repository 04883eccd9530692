import Database
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Claims that were made after something was asked for that they speak against.
struct ClaimsAtTheActTests {
    private func claim(_ rig: Rig, _ item: Item, _ kind: Claim.Kind) async throws {
        let claim = Claim(id: ClaimID("job"), item: item.localID, kind: kind, validity: .explicit)
        try await rig.database.write { try $0.claims.add(claim) }
    }

    private func unclaim(_ rig: Rig) async throws {
        try await rig.database.write { try $0.claims.remove(ClaimID("job")) }
        rig.clock.advance(.seconds(60))
    }

    private func withOutdated(
        for reason: DownloadTrigger, _ body: (Rig, Item) async throws -> Void
    ) async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "old")
            try await rig.ask(.download, file, for: reason)
            #expect(try await rig.drain().isDone)
            try await rig.change(file, "newer", version: "v2")
            try await body(rig, file)
        }
    }

    private func expectOld(_ rig: Rig, _ file: Item) async throws {
        #expect(try rig.text("/a") == "old")
        let item = try await rig.now(file)
        #expect(item.cloudStatus == .localCopy && item.remoteVersion == .newer)
    }

    @Test("P43: a download that was queued before the copy was claimed for writing sends no GET and replaces nothing")
    func queuedBefore() async throws {
        try await withOutdated(for: .availableOffline) { rig, file in
            try await rig.ask(.download, file, for: .availableOffline)
            try await claim(rig, file, .write)
            #expect(try await rig.drain().isDone)
            try await expectOld(rig, file)
            #expect(rig.source.requests.count == 1)
            #expect(try await rig.now(file).syncActivity == [])
            try await unclaim(rig)
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "newer")
        }
    }

    @Test("P43: nor does one under way when the claim is made; a person's waits for its end", arguments: [false, true])
    func underWay(isPersons: Bool) async throws {
        let reason = isPersons ? DownloadTrigger.user : .availableOffline
        try await withOutdated(for: reason) { rig, file in
            let gate = Gate()
            rig.source.then(file.path, .hold(gate))
            try await rig.ask(.download, file, for: reason)
            async let outcome = rig.drain()
            await gate.untilSomebodyCame()
            try await claim(rig, file, .write)
            gate.open()
            #expect(try await outcome.leftCount == (isPersons ? 1 : 0))
            try await expectOld(rig, file)
            try await unclaim(rig)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == (isPersons ? "newer" : "old"))
        }
    }

    @Test("P43: a person who asks for what is claimed for writing is told so")
    func personIsTold() async throws {
        try await withOutdated(for: .user) { rig, file in
            try await claim(rig, file, .write)
            guard case .refused(let failure) = try await rig.ask(.download, file) else {
                throw SetupError("not refused")
            }
            #expect(failure.message.contains("is claimed (write, job)"))
            try await expectOld(rig, file)
        }
    }

    @Test(
        "P28: claimed for reading or against deletion, a pinned copy is brought up to date",
        arguments: [Claim.Kind.read, .delete])
    func otherClaims(_ kind: Claim.Kind) async throws {
        try await withOutdated(for: .availableOffline) { rig, file in
            try await claim(rig, file, kind)
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "newer")
        }
    }

    /// A copy of an item that is gone, and another item that has its path now.
    private func withNewcomer(
        _ text: String, at path: String, _ body: (Rig, Item, Item) async throws -> Void
    ) async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "old")
            try await rig.ask(.download, file)
            #expect(try await rig.drain().isDone)
            try await rig.database.write { tx in
                _ = try tx.scan.noteMissing(file.databaseID)
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            try await claim(rig, file, .delete)
            try await body(rig, file, try await rig.addFile(path, text, version: "v2"))
        }
    }

    @Test(
        "P58: a claimed copy of an item that is gone does not make way for another item, which waits until the claim is over",
        arguments: ["/a", "/a/below"])
    func newcomer(_ path: String) async throws {
        try await withNewcomer("another", at: path) { rig, gone, newcomer in
            try await rig.ask(.download, newcomer)
            let outcome = try await rig.drain()
            #expect(outcome.left.map(\.path.text) == [path])
            let why = try #require(outcome.left.first?.why)
            #expect(why.contains(path == "/a" ? "is claimed (delete, job)" : "until vacuum removes it"), "\(why)")
            // Vacuum's time does not take a claimed copy either.
            try await rig.ask(.purge, gone, for: .availableOffline)
            #expect(try await rig.drain().leftCount == 1)
            #expect(try rig.text("/a") == "old")
            #expect(try await rig.issues().isEmpty)
            #expect(try await rig.now(newcomer).cloudStatus == .cloudOnly)
            #expect(try await rig.now(gone).cloudStatus == .localCopy)
            try await unclaim(rig)
            try await rig.ask(.purge, gone, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text(path) == "another")
            // One for the item that is gone, and one for the newcomer, however long it waited.
            #expect(rig.source.requests.count == 2)
        }
    }
}

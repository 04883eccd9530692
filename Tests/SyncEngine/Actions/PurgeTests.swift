import Database
import LocalTree
import Model
import SyncEngine
import TestSupport
import Testing

@Suite("Forgetting items that are gone")
struct PurgeTests {
    /// Makes a file that has a copy and is gone from the server.
    private func gone(_ fixture: EngineFixture, _ path: String) async throws -> Item {
        let file = try await fixture.addFile(path)
        try await fixture.ask(.download, file, for: .user)
        #expect(try await fixture.drain().isDone)
        return try await removed(fixture, file)
    }

    private func removed(_ fixture: EngineFixture, _ item: Item) async throws -> Item {
        try await fixture.database.write { tx in
            _ = try tx.scan.noteMissing(item.databaseID)
            try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
        }
        return try await fixture.now(item)
    }

    @Test("P46: what is gone goes with its copy; what is on the server stays")
    func purged() async throws {
        try await EngineFixture.with { fixture in
            let (file, kept) = (try await gone(fixture, "/a/x"), try await fixture.addFile("/a/y"))
            let unknown = try await removed(fixture, try await fixture.addFile("/a/z"))
            for item in [file, kept, unknown] { try await fixture.ask(.purge, item, for: .user) }
            // An item without a copy is purged at once, since there is nothing to wait for.
            #expect(try await fixture.database.read { try $0.items.item(localID: unknown.localID) } == nil)
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.database.read { try $0.items.item(localID: file.localID) } == nil)
            #expect(try fixture.text("/a/x") == nil)
            #expect(try await fixture.now(kept) == kept)
            #expect(!Files.exists(fixture.tree.localPath(of: ItemPath(unchecked: "/a"))))
        }
    }

    @Test("P46: an item with a record of its own is not forgotten before that is done")
    func liveRecord() async throws {
        try await EngineFixture.with { fixture in
            let file = try await gone(fixture, "/x")
            try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), file, for: .user)
            guard case .joined = try await fixture.ask(.purge, file, for: .availableOffline) else {
                throw SetupError("the purge was not joined to the record that there was")
            }
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(file).cloudStatus == .cloudOnly)
            try await fixture.ask(.purge, file, for: .availableOffline)
            #expect(try await fixture.database.read { try $0.items.item(localID: file.localID) } == nil)
        }
    }

    @Test("P48, P49: a claimed copy stays, and others go on")
    func claimed() async throws {
        try await EngineFixture.with { fixture in
            let (file, other) = (try await gone(fixture, "/x"), try await gone(fixture, "/y"))
            let claim = Claim(item: file.localID, kind: .delete, validity: .explicit)
            try await fixture.database.write { try $0.claims.add(claim) }
            for item in [file, other] { try await fixture.ask(.purge, item, for: .user) }
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/x") == "content")
            #expect(try await fixture.now(file).isRemoved)
            #expect(try await fixture.database.read { try $0.items.item(localID: other.localID) } == nil)
            try await fixture.database.write { try $0.claims.remove(claim.id) }
            try await fixture.ask(.purge, file, for: .user)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/x") == nil)
        }
    }

    @Test("P46: an item that is back when its turn comes keeps its row and its copy")
    func back() async throws {
        try await EngineFixture.with { fixture in
            let file = try await gone(fixture, "/x")
            try await fixture.ask(.purge, file, for: .user)
            try await fixture.database.write { tx in
                var item = try #require(try tx.items.item(localID: file.localID))
                item.removedAt = nil
                try tx.items.update(item)
            }
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
            #expect(try fixture.text("/x") == "content")
        }
    }
}

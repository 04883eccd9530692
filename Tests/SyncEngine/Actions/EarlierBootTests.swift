import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// A power cut can leave what a person wrote last under the times that the file had before.
struct EarlierBootTests {
    private let remove = SyncRecord.Action.removeLocalCopy(restoringFormerTrigger: false)

    /// Two copies, one of them changed under looks that its row takes for proof.
    private func prepared(_ fixture: EngineFixture) async throws -> (same: Item, changed: Item) {
        let files = (
            same: try await fixture.addFile("/same", "content"),
            changed: try await fixture.addFile("/changed", "content")
        )
        for file in [files.same, files.changed] { try await fixture.ask(.download, file, for: .availableOffline) }
        #expect(try await fixture.drain().isDone)
        try fixture.write("another", to: "/changed")
        for file in [files.same, files.changed] {
            var item = try await fixture.now(file)
            item.copy?.mark = try #require(fixture.tree.mark(at: file.path))
            let recorded = Timestamp.now() + FileMark.clockStep * 2
            item.copy?.mark.recorded = recorded
            await until { Timestamp.now() > recorded }
            try await fixture.database.write { [item] tx in _ = try tx.items.updateLocal(item) }
        }
        return files
    }

    @Test("S24, P25: after another boot a copy is read before it goes, and a start reads nothing")
    func anotherBoot() async throws {
        try await EngineFixture.with { first in
            let files = try await prepared(first)
            try await first.database.write { try $0.meta.set(.bootID, "another boot") }
            let fixture = try EngineFixture(reopening: first)
            let before = try await fixture.now(files.changed).copy
            #expect(try Reconciler(database: fixture.database, tree: fixture.tree).run() == [])
            #expect(try await fixture.now(files.changed).copy == before)
            let old = try #require(try await fixture.now(files.same).copy)
            for file in [files.same, files.changed] { try await fixture.ask(remove, file, for: .availableOffline) }
            // Read before the transaction, and believed in it.
            let jobs = try await fixture.records().map { Job($0, item: files.same) }
            #expect(try fixture.engine.readFirst(jobs) == 2)
            let read = try #require(try await fixture.now(files.same).copy)
            #expect(read.mark.recorded > old.mark.recorded && fixture.tree.prove(read, at: files.same.path) == nil)
            #expect(try await fixture.now(files.changed).copy == before)
            _ = try await fixture.drain()
            #expect(try fixture.text("/same") == nil && fixture.text("/changed") == "another")
            #expect(try await fixture.now(files.changed).cloudStatus == .locallyModified)
        }
    }

    @Test("In the boot in which they were recorded looks are proof, and nothing is read")
    func sameBoot() async throws {
        try await EngineFixture.with { first in
            let files = try await prepared(first)
            let fixture = try EngineFixture(reopening: first)
            // Read, the file would stay: its bytes are not the row's.
            try await fixture.ask(remove, files.changed, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/changed") == nil)
        }
    }
}

import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of marks that were recorded before the last boot. After a power cut, a file may have a person's last changes
/// and still the times that it had before those changes.
struct EarlierBootTests {
    private let remove = ItemAction.removeLocalCopy(restoringFormerTrigger: false)

    /// Makes two copies and changes one of them. The row of the changed copy holds a mark that counts as proof.
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
            // The engine reads the copies before the transaction and relies on the result in the transaction.
            let jobs = try await fixture.records().map { Job($0, item: files.same) }
            #expect(try CopyRemoval(context: fixture.engine.context).readFirst(jobs) == 2)
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
            // If the engine read the file, the file would stay, since its content differs from the row's digest.
            try await fixture.ask(remove, files.changed, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/changed") == nil)
        }
    }
}

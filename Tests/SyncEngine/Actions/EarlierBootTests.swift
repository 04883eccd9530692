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
    private func prepared(_ rig: Rig) async throws -> (same: Item, changed: Item) {
        let files = (
            same: try await rig.addFile("/same", "content"), changed: try await rig.addFile("/changed", "content")
        )
        for file in [files.same, files.changed] { try await rig.ask(.download, file, for: .availableOffline) }
        #expect(try await rig.drain().isDone)
        try rig.write("another", to: "/changed")
        for file in [files.same, files.changed] {
            var item = try await rig.now(file)
            item.copy?.mark = try #require(rig.tree.mark(at: file.path))
            let recorded = Timestamp.now() + FileMark.clockStep * 2
            item.copy?.mark.recorded = recorded
            while Timestamp.now() <= recorded { await Task.yield() }
            try await rig.database.write { [item] tx in _ = try tx.items.updateLocal(item) }
        }
        return files
    }

    @Test("S24, P25: after another boot a copy is read before it goes, and a start reads nothing")
    func anotherBoot() async throws {
        try await Rig.with { first in
            let files = try await prepared(first)
            try await first.database.write { try $0.meta.set(.bootID, "another boot") }
            let rig = try Rig(reopening: first)
            let before = try await rig.now(files.changed).copy
            #expect(try Reconciler(database: rig.database, tree: rig.tree).run() == [])
            #expect(try await rig.now(files.changed).copy == before)
            let old = try #require(try await rig.now(files.same).copy)
            for file in [files.same, files.changed] { try await rig.ask(remove, file, for: .availableOffline) }
            // Read before the transaction, and believed in it.
            let jobs = try await rig.records().map { Job($0, item: files.same) }
            #expect(try rig.engine.readFirst(jobs) == 2)
            let read = try #require(try await rig.now(files.same).copy)
            #expect(read.mark.recorded > old.mark.recorded && rig.tree.prove(read, at: files.same.path) == nil)
            #expect(try await rig.now(files.changed).copy == before)
            _ = try await rig.drain()
            #expect(try rig.text("/same") == nil && rig.text("/changed") == "another")
            #expect(try await rig.now(files.changed).cloudStatus == .locallyModified)
        }
    }

    @Test("In the boot in which they were recorded looks are proof, and nothing is read")
    func sameBoot() async throws {
        try await Rig.with { first in
            let files = try await prepared(first)
            let rig = try Rig(reopening: first)
            // Read, the file would stay: its bytes are not the row's.
            try await rig.ask(remove, files.changed, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/changed") == nil)
        }
    }
}

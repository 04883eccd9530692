import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing

@testable import SyncEngine

/// A copy that cannot be reached is not gone.
struct UnreachableRemovalTests {
    @Test(
        "P25: a copy below a folder that became a symbolic link keeps its row, waits, and goes when it can be reached")
    func link() async throws {
        try await Rig.with { rig in
            let files = (freed: try await rig.addFile("/sub/freed"), gone: try await rig.addFile("/sub/gone"))
            let other = try await rig.addFile("/other")
            for file in [files.freed, files.gone, other] { try await rig.ask(.download, file, for: .availableOffline) }
            #expect(try await rig.drain().isDone)
            try await rig.database.write { tx in
                _ = try tx.scan.noteMissing(files.gone.databaseID)
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            let (folder, elsewhere) = (rig.tree.localPath(of: ItemPath(unchecked: "/sub")), rig.folder + "/elsewhere")
            #expect(rename(folder, elsewhere) == 0 && symlink(elsewhere, folder) == 0)
            let remove = SyncRecord.Action.removeLocalCopy(restoringFormerTrigger: false)
            for file in [files.freed, other] { try await rig.ask(remove, file, for: .availableOffline) }
            try await rig.ask(.purge, try await rig.now(files.gone), for: .availableOffline)
            let outcome = try await rig.drain()
            #expect(outcome.left.map(\.path) == [files.freed.path])
            // It holds up no other.
            #expect(try rig.text("/other") == nil)
            for file in [files.freed, files.gone] {
                #expect(try await rig.now(file).cloudStatus == .localCopy)
                #expect(try await rig.now(file).copy != nil)
            }
            #expect(try Files.names(in: elsewhere) == ["freed", "gone"])

            unlink(folder)
            #expect(rename(elsewhere, folder) == 0)
            rig.clock.advance(.seconds(3_600))
            #expect(try await rig.drain().isDone)
            #expect(try await rig.now(files.freed).cloudStatus == .cloudOnly)
            #expect(try rig.text("/sub/freed") == nil && rig.text("/sub/gone") != nil)
        }
    }
}

import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing

@testable import SyncEngine

/// Tests that a copy that cannot be reached does not count as gone.
struct UnreachableRemovalTests {
    @Test(
        "P25: a copy below a folder that became a symbolic link keeps its row, waits, and goes when it can be reached")
    func link() async throws {
        try await EngineFixture.with { fixture in
            let files = (freed: try await fixture.addFile("/sub/freed"), gone: try await fixture.addFile("/sub/gone"))
            let other = try await fixture.addFile("/other")
            for file in [files.freed, files.gone, other] {
                try await fixture.ask(.download, file, for: .availableOffline)
            }
            #expect(try await fixture.drain().isDone)
            try await fixture.database.write { tx in
                _ = try tx.scan.noteMissing(files.gone.databaseID)
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            let (folder, elsewhere) = (
                fixture.tree.localPath(of: ItemPath(unchecked: "/sub")), fixture.folder + "/elsewhere"
            )
            #expect(rename(folder, elsewhere) == 0 && symlink(elsewhere, folder) == 0)
            let remove = ItemAction.removeLocalCopy(restoringFormerTrigger: false)
            for file in [files.freed, other] { try await fixture.ask(remove, file, for: .availableOffline) }
            try await fixture.ask(.purge, try await fixture.now(files.gone), for: .availableOffline)
            let outcome = try await fixture.drain()
            #expect(outcome.left.map(\.path) == [files.freed.path])
            // The copy that cannot be reached does not hold up any other copy.
            #expect(try fixture.text("/other") == nil)
            for file in [files.freed, files.gone] {
                #expect(try await fixture.now(file).cloudStatus == .localCopy)
                #expect(try await fixture.now(file).copy != nil)
            }
            #expect(try Files.names(in: elsewhere) == ["freed", "gone"])

            unlink(folder)
            #expect(rename(elsewhere, folder) == 0)
            fixture.clock.advance(.seconds(3_600))
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(files.freed).cloudStatus == .cloudOnly)
            #expect(try fixture.text("/sub/freed") == nil && fixture.text("/sub/gone") != nil)
        }
    }
}

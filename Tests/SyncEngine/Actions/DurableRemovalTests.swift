import Database
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of removals and power cuts. A file system may store the row before it stores the removal of the file, so the
/// file may be back after a power cut.
@Suite(.serialized, .enabled(if: Build.isRoot, "mounting a disk image needs root"))
struct DurableRemovalTests {
    private static let disks = [DiskImage.Kind.ext4, .btrfs, .xfs].filter(\.isAvailable)

    @Test("S24: a copy that is back after a power cut is known, and goes again", arguments: disks)
    func powerCut(kind: DiskImage.Kind) async throws {
        try await withTemporaryFolder { folder in
            let disk = folder + "/disk"
            let image = try await DiskImage.make(kind, at: folder + "/image")
            var cut = image
            var files: [Item] = []
            try await image.mounted(at: disk) {
                let fixture = try EngineFixture(folder: disk)
                files = try await fixture.addFiles(3) { ("/a/f\($0)", "text \($0)") }
                for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
                #expect(try await fixture.drain().isDone)
                try fixture.tree.syncData()
                try await fixture.database.write { [gone = files[1]] tx in
                    _ = try tx.scan.noteMissing(gone.databaseID)
                    try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
                }
                try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), files[0], for: .availableOffline)
                try await fixture.ask(.purge, try await fixture.now(files[1]), for: .availableOffline)
                #expect(try await fixture.drain().isDone)
                #expect(try Files.names(in: disk + "/vault/files/a") == ["f2"])
                cut = try await image.afterPowerCut(copiedTo: folder + "/cut")
                try fixture.vault.close()
            }
            try await cut.mounted(at: disk) {
                let fixture = try EngineFixture(folder: disk)
                _ = try await fixture.drain()
                _ = try Reconciler(database: fixture.database, tree: fixture.tree).run()
                let statuses = try await fixture.database.read { reads in
                    var statuses: [String: CloudStatus] = [:]
                    try reads.items.each(ItemListing(folder: .root, isRecursive: true, includesRemoved: true)) { item in
                        statuses[item.path.text] = item.cloudStatus
                        return true
                    }
                    return statuses
                }
                #expect(statuses["/a/f2"] == .localCopy)
                // The file is on the server alone or is still a copy. It is never a file of unknown content.
                #expect([.cloudOnly, .localCopy].contains(statuses["/a/f0"]))
                #expect([nil, .cloudOnly, .localCopy].contains(statuses["/a/f1"]))
                try fixture.vault.close()
            }
        }
    }
}

import Connection
import Database
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Copies that may hold the first of two contents with one ETag.
struct FetchAgainTests {
    /// A copy that a scan distrusts: the server has another content under the same ETag.
    private func withDistrusted(
        for reason: DownloadTrigger = .user, _ body: (Rig, Item) async throws -> Void
    ) async throws {
        try await Rig.with { rig in
            let file = try await rig.addFile("/a", "one")
            try await rig.ask(.download, file, for: reason)
            #expect(try await rig.drain().isDone)
            try await rig.change(file, "two", version: "v1", isListed: false)
            try await rig.database.write { [engine = rig.engine] tx in
                try tx.items.distrustCopy(of: try #require(try tx.items.scanRow(at: file.path)))
                try engine.fetchAgain(file.localID, in: tx)
            }
            try await body(rig, try await rig.now(file))
        }
    }

    @Test("S15: what the host fetches once more for itself is no use by anybody, and stays whose it is")
    func quiet() async throws {
        try await withDistrusted(for: .availableOffline) { rig, before in
            #expect(before.cloudStatus == .localCopy && before.remoteVersion == .current)
            rig.clock.advance(.seconds(3600))
            // A person asks meanwhile: what is here is the server's version.
            guard case .done = try await rig.ask(.download, before) else { throw SetupError("not adopted") }
            let asked = try await rig.now(before)
            rig.clock.advance(.seconds(3600))
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == "two")
            let after = try await rig.now(before)
            #expect(after.lastUsed == asked.lastUsed && after.syncActivity == [])
            #expect(after.downloadTrigger == .availableOffline && after.formerTrigger == .user)
            #expect(try await !rig.database.read { try $0.items.isCopyDistrusted(databaseID: after.databaseID) })
        }
    }

    @Test("P49: while the clock is not believed, a claim that it calls over keeps a distrusted copy as it is")
    func claimed() async throws {
        try await withTemporaryFolder { folder in
            let clock = JumpingClock()
            let believed = clock.now
            let time = HostClock(
                now: { clock.now + .seconds(1_000_000) }, agesTo: { believed }, monotonic: clock.host.monotonic,
                sleep: clock.host.sleep)
            let rig = try Rig(folder: folder, time: time)
            let file = try await rig.addFile("/a", "one")
            try await rig.ask(.download, file)
            #expect(try await rig.drain().isDone)
            try await rig.database.write { [engine = rig.engine] tx in
                try tx.claims.add(
                    Claim(item: file.localID, kind: .write, validity: .until(believed + .seconds(1_000))))
                try tx.items.distrustCopy(of: try #require(try tx.items.scanRow(at: file.path)))
                try engine.fetchAgain(file.localID, in: tx)
            }
            #expect(try await rig.records().isEmpty)
            try rig.vault.close()
        }
    }

    @Test("P41: once the server has another version, or the copy goes, nothing is fetched once more for its sake")
    func outdated() async throws {
        for isFreed in [false, true] {
            try await withDistrusted { rig, file in
                if isFreed {
                    try await rig.ask(.removeLocalCopy(restoringFormerTrigger: false), file)
                } else {
                    try await rig.database.write { tx in
                        let row = try #require(try tx.items.scanRow(at: file.path))
                        let entry = ListedItem(
                            path: file.path, kind: .file, etag: ETag(opaque: "v2", strength: .strong), size: 3)
                        try tx.items.updateListed(row, with: entry, fileID: try #require(row.fileID), racy: .no)
                    }
                }
                #expect(try await rig.drain().isDone)
                #expect(rig.source.requestCount(file.path) == 1)
                let now = try await rig.now(file)
                #expect(now.syncActivity == [] && now.cloudStatus == (isFreed ? .cloudOnly : .localCopy))
            }
        }
    }
}

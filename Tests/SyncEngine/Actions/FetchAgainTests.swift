import Connection
import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of copies that may hold the first of two contents with one ETag.
struct FetchAgainTests {
    /// Calls `body` with a copy that a scan distrusts. The server has another content under the same ETag.
    private func withDistrusted(
        for reason: DownloadTrigger = .user, holding text: String = "two",
        _ body: (EngineFixture, Item) async throws -> Void
    ) async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "one")
            try await fixture.ask(.download, file, for: reason)
            #expect(try await fixture.drain().isDone)
            try await fixture.change(file, text, version: "v1", isListed: false)
            try await fixture.database.write { [engine = fixture.engine] tx in
                try tx.items.distrustCopy(of: try #require(try tx.items.scanRow(at: file.path)))
                try engine.fetchAgain(file.localID, in: tx)
            }
            try await body(fixture, try await fixture.now(file))
        }
    }

    @Test("S15: what the host fetches once more for itself is no use by anybody, and stays whose it is")
    func quiet() async throws {
        try await withDistrusted(for: .availableOffline) { fixture, before in
            #expect(before.cloudStatus == .localCopy && before.remoteVersion == .current)
            fixture.clock.advance(.seconds(3600))
            // A person requests the file meanwhile. The local copy counts as the server's version.
            guard case .done = try await fixture.ask(.download, before) else { throw SetupError("not adopted") }
            let asked = try await fixture.now(before)
            fixture.clock.advance(.seconds(3600))
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == "two")
            let after = try await fixture.now(before)
            #expect(after.lastUsed == asked.lastUsed && after.syncActivity == [])
            #expect(after.downloadTrigger == .availableOffline && after.formerTrigger == .user)
            #expect(try await !fixture.database.read { try $0.items.isCopyDistrusted(databaseID: after.databaseID) })
        }
    }

    @Test("S15, P37: fetched once more with equal content and time, the file stays the one that programs have open")
    func equal() async throws {
        try await withDistrusted(holding: "one") { fixture, before in
            let place = fixture.tree.localPath(of: before.path)
            let reader = open(place, O_RDONLY | O_CLOEXEC)
            defer { close(reader) }
            fixture.clock.advance(.seconds(3600))
            #expect(try await fixture.drain().isDone)
            #expect(fixture.source.requestCount(before.path) == 2)
            var (opened, there) = (stat(), stat())
            #expect(fstat(reader, &opened) == 0 && stat(place, &there) == 0 && opened.st_ino == there.st_ino)
            let after = try await fixture.now(before)
            #expect(after.lastUsed == before.lastUsed && after.syncActivity == [])
            #expect(after.copy?.mark.inode == before.copy?.mark.inode && after.remoteVersion == .current)
            #expect(try fixture.incoming().isEmpty)
            #expect(try await !fixture.database.read { try $0.items.isCopyDistrusted(databaseID: after.databaseID) })
        }
        // Another time alone is taken over.
        try await withDistrusted(holding: "one") { fixture, before in
            let old = [timespec(tv_sec: 1_500_000_000, tv_nsec: 0), timespec(tv_sec: 1_500_000_000, tv_nsec: 0)]
            try #require(utimensat(AT_FDCWD, fixture.tree.localPath(of: before.path), old, 0) == 0)
            #expect(try await fixture.drain().isDone)
            #expect(try await fixture.now(before).copy?.mark.inode != before.copy?.mark.inode)
        }
    }

    @Test("P49: while the clock is not believed, a claim that it calls over keeps a distrusted copy as it is")
    func claimed() async throws {
        try await withTemporaryFolder { folder in
            let clock = TestClock.jumping()
            let believed = clock.now
            let time = HostClock(
                now: { clock.now + .seconds(1_000_000) }, agesTo: { believed }, monotonic: clock.host.monotonic,
                sleep: clock.host.sleep)
            let fixture = try EngineFixture(folder: folder, time: time)
            let file = try await fixture.addFile("/a", "one")
            try await fixture.ask(.download, file)
            #expect(try await fixture.drain().isDone)
            try await fixture.database.write { [engine = fixture.engine] tx in
                try tx.claims.add(
                    Claim(item: file.localID, kind: .write, validity: .until(believed + .seconds(1_000))))
                try tx.items.distrustCopy(of: try #require(try tx.items.scanRow(at: file.path)))
                try engine.fetchAgain(file.localID, in: tx)
            }
            #expect(try await fixture.records().isEmpty)
            try fixture.vault.close()
        }
    }

    @Test("P41: once the server has another version, or the copy goes, nothing is fetched once more for its sake")
    func outdated() async throws {
        for isFreed in [false, true] {
            try await withDistrusted { fixture, file in
                if isFreed {
                    try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), file)
                } else {
                    try await fixture.database.write { tx in
                        let row = try #require(try tx.items.scanRow(at: file.path))
                        let entry = ListedItem(
                            path: file.path, kind: .file, etag: ETag(opaque: "v2", strength: .strong), size: 3)
                        try tx.items.updateListed(row, with: entry, fileID: try #require(row.fileID), racy: .no)
                    }
                }
                #expect(try await fixture.drain().isDone)
                #expect(fixture.source.requestCount(file.path) == 1)
                let now = try await fixture.now(file)
                #expect(now.syncActivity == [] && now.cloudStatus == (isFreed ? .cloudOnly : .localCopy))
            }
        }
    }
}

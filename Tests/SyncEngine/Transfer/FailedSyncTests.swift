import Database
import Glibc
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of a disk that fails once, and of the data that was written before the failure and did not reach the disk.
struct FailedSyncTests {
    private static let content = String(repeating: "0123456789abcdef", count: 1 << 10)
    private static let half = content.utf8.count / 2

    /// A disk whose first sync fails. After the failure, the files in `incoming/` read as zeros, as if their data had
    /// never reached the disk.
    private final class Disk: Sendable {
        private let incoming: String
        private let fails = Mutex(true)
        let failed = Gate()
        var hasFailed: Bool { fails.withLock { !$0 } }

        init(incoming: String) { self.incoming = incoming }

        func sync() -> Int32 {
            guard
                fails.withLock({ fails in
                    defer { fails = false }
                    return fails
                })
            else { return 0 }
            for name in (try? Files.names(in: incoming)) ?? [] {
                let file = open("\(incoming)/\(name)", O_WRONLY | O_CLOEXEC)
                var info = stat()
                if fstat(file, &info) == 0, info.st_size > 0 {
                    let zeros = [UInt8](repeating: 0, count: Int(info.st_size))
                    _ = pwrite(file, zeros, zeros.count, 0)
                }
                close(file)
            }
            failed.open()
            return EIO
        }
    }

    @Test("S14: what was being fetched when the disk failed, and is whole after it, is fetched anew")
    func underWay() async throws {
        try await withTemporaryFolder { folder in
            let disk = Disk(incoming: "\(folder)/vault/incoming")
            // Both are under way at once. What goes on alone after a batch may begin after the failure.
            let fixture = try EngineFixture(
                folder: folder, source: ScriptedSource(takesBatches: false), sync: disk.sync)
            let files = try await fixture.addFiles(2) { ("/\($0)", Self.content) }
            fixture.source.then(files[1].path, .pause(after: Self.half, disk.failed))
            for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
            // A run that ends with the disk's error is repeated.
            var drained = try await fixture.drain()
            for _ in 0..<2 where !drained.isDone { drained = try await fixture.drain() }
            #expect(drained.isDone)
            for file in files {
                #expect(try fixture.text(file.path.text) == Self.content, "\(file.path)")
                #expect(fixture.source.requestCount(file.path) == 2)
            }
            try fixture.vault.close()
        }
    }

    @Test("S14: nothing is gone on with that had come before the disk failed")
    func partly() async throws {
        try await withTemporaryFolder { folder in
            let source = ScriptedSource()
            let first = try EngineFixture(folder: folder, source: source)
            let file = try await first.addFile("/partly", Self.content)
            let gate = Gate()
            source.then(file.path, .cutOff(after: Self.half), .hold(gate))
            try await first.ask(.download, file, for: .availableOffline)
            let draining = Task { try await first.drain() }
            await gate.untilReached()
            draining.cancel()
            _ = await draining.result
            try first.vault.close()
            #expect(try first.incoming().count == 1)

            let disk = Disk(incoming: "\(folder)/vault/incoming")
            let fixture = try EngineFixture(folder: folder, source: source, sync: disk.sync)
            // The download waits for 20 s, which is longer than a sleep that the clock skips, so the other download
            // meets the disk's error first.
            try await fixture.database.write { [now = fixture.clock.now] tx in
                for var record in try tx.journal.records(of: file.localID) {
                    record.wait = .until(now + .seconds(20))
                    try tx.journal.update(record)
                }
            }
            let other = try await fixture.addFile("/other", Self.content)
            try await fixture.ask(.download, other, for: .availableOffline)
            // The run ends with the disk's error, or continues by itself once the error is over.
            _ = try await fixture.drain()
            #expect(disk.hasFailed)
            fixture.clock.advance(.seconds(20))
            var drained = try await fixture.drain()
            for _ in 0..<2 where !drained.isDone { drained = try await fixture.drain() }
            #expect(drained.isDone)
            for item in [file, other] { #expect(try fixture.text(item.path.text) == Self.content, "\(item.path)") }
            let offsets = source.requests.filter { $0.path == file.path }.map(\.offset)
            #expect(offsets.starts(with: [0, Int64(Self.half)]) && offsets.last == 0, "\(offsets)")
            try fixture.vault.close()
        }
    }
}

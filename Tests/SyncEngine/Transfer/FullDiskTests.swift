import Database
import Glibc
import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import SyncEngine

@Suite(.enabled(if: Build.isRoot, "mounting a small file system needs root"))
struct FullDiskTests {
    private static let content = String(repeating: "0123456789abcdef", count: 1 << 16)

    /// Calls `body` with a vault on a disk that has room for two or three of six files until the ballast is removed.
    private func withFullDisk(
        _ body: (EngineFixture, _ files: [Item], _ ballast: String) async throws -> Void
    ) async throws {
        try await withDisk { disk in try await mounted(disk, body) }
    }

    /// Calls `body` with a file system of 48 MB. The log of the database grows to 16 MB before it is used again.
    private func withDisk(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let disk = "\(folder)/disk"
            try Files.makeFolder(disk)
            try await mustRun("mount", ["-t", "tmpfs", "-o", "size=48m", "tmpfs", disk])
            do {
                try await body(disk)
            } catch {
                try await mustRun("umount", ["--lazy", disk])
                throw error
            }
            try await mustRun("umount", [disk])
        }
    }

    private func mounted(
        _ disk: String, _ body: (EngineFixture, _ files: [Item], _ ballast: String) async throws -> Void
    ) async throws {
        // Nothing tells of the lack of room beforehand, as when other programs fill the disk meanwhile.
        let fixture = try EngineFixture(folder: disk, space: { nil })
        let files = try await fixture.addFiles(6) { ("/d/f\($0)", Self.content) }
        for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
        var info = statvfs()
        #expect(statvfs(disk, &info) == 0)
        let room = 5 << 19
        try Files.write([UInt8](repeating: 7, count: Int(info.f_bavail * info.f_bsize) - room), to: "\(disk)/ballast")
        try await body(fixture, files, "\(disk)/ballast")
        try fixture.vault.close()
    }

    private func expectWhole(_ fixture: EngineFixture, _ files: [Item], isComplete: Bool) async throws {
        var whole = 0
        for file in files {
            let text = try fixture.text(file.path.text)
            #expect(text == nil || text == Self.content, "\(file.path) is partial")
            if text != nil { whole += 1 }
            if try await fixture.now(file).cloudStatus == .localCopy { #expect(text != nil) }
        }
        #expect((whole == files.count) == isComplete)
    }

    @Test("P34: a full disk ends the pass with its name and no partial file in place; with room again it goes on")
    func drain() async throws {
        try await withFullDisk { fixture, files, ballast in
            let outcome = try await fixture.drain()
            let failure = try #require(outcome.failure)
            // The journal is on the same disk, so either the journal or a download may be the first to find the disk
            // full.
            #expect(failure.kind == .localIO, "\(failure)")
            #expect(failure.message.contains("full") || failure.message.contains("No space left"), "\(failure)")
            #expect(outcome.leftCount > 0 && outcome.left.allSatisfy { $0.failure == .localIO })
            try await expectWhole(fixture, files, isComplete: false)
            // All records have one common reason, and no issue is made for a single file.
            #expect(try await fixture.issues().isEmpty)

            Files.remove(ballast)
            #expect(try await fixture.drain().isDone)
            try await expectWhole(fixture, files, isComplete: true)
            #expect(try await fixture.records().isEmpty && fixture.incoming().isEmpty)
        }
    }

    /// Writes to a file until the disk is full.
    private func fill(_ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let page = [UInt8](repeating: 7, count: 4096)
        while write(file, page, page.count) > 0 {}
        #expect(errno == ENOSPC)
    }

    @Test("P34: a pass ends too if the disk is too full to say that a file is in place", .timeLimit(.minutes(20)))
    func uncompleted() async throws {
        try await withDisk { disk in try await fillWhileCompleting(disk) }
    }

    private func fillWhileCompleting(_ disk: String) async throws {
        let fixture = try EngineFixture(folder: disk, space: { nil })
        fixture.clock.stop()
        let files = try await fixture.addFiles(2) { ("/f\($0)", Self.content) }
        let gate = Gate()
        fixture.source.then(files[1].path, .hold(gate))
        for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
        let outcome = Mutex<DrainOutcome?>(nil)
        let drain = Task { [fixture] in
            let result = try await fixture.drain()
            outcome.withLock { $0 = result }
        }
        await gate.untilReached()
        // The first file is put in place. It is not completed before another second has passed.
        while try fixture.text("/f0") == nil {
            if try fixture.incoming().contains(where: { $0.hasPrefix("1-") }) {
                // In small steps: one more may pass after the file is in place.
                fixture.clock.advance(.milliseconds(100))
                fixture.engine.wake()
            }
            await Task.yield()
        }
        try fill("\(disk)/ballast")
        gate.open()
        while outcome.withLock({ $0 == nil }) {
            fixture.clock.advance(.milliseconds(10))
            fixture.engine.wake()
            await Task.yield()
        }
        try await drain.value
        let left = try #require(outcome.withLock { $0 })
        #expect(left.failure?.kind == .localIO)
        #expect(left.left.map(\.path) == files.map(\.path))

        Files.remove("\(disk)/ballast")
        let again = Task { [fixture] in try await fixture.drain() }
        while try await !fixture.records().isEmpty {
            fixture.clock.advance(.seconds(1))
            fixture.engine.wake()
            await Task.yield()
        }
        #expect(try await again.value.isDone)
        try await expectWhole(fixture, files, isComplete: true)
        try fixture.vault.close()
    }

    @Test("P34: a disk that fills up during a batch of uploads ends it, and in the end each file was sent once")
    func uploads() async throws {
        try await withDisk { disk in try await fillWhileUploading(disk) }
    }

    private func fillWhileUploading(_ disk: String) async throws {
        let fixture = try EngineFixture(
            folder: disk, source: ScriptedSource(takesBatches: true), limits: Limits(uploads: 1), space: { nil })
        _ = try await fixture.addFolder("/d")
        let names = (0..<100).map { "/d/\($0)" }
        for name in names {
            guard case .queued = try await fixture.put("text of \(name)", name) else { throw SetupError(name) }
        }
        fixture.source.changing.state.withLock { state in
            state.onPut = { [self] path in
                guard path.text == "/d/5" else { return }
                do { try fill("\(disk)/ballast") } catch { Issue.record(error) }
            }
        }
        let outcome = try await fixture.drain()
        #expect(outcome.failure?.kind == .localIO && outcome.leftCount > 0)
        let sent = fixture.source.changing.requests.count
        #expect(sent > 5)
        Files.remove("\(disk)/ballast")
        fixture.source.changing.state.withLock { $0.onPut = nil }
        let again = try await fixture.drain()
        #expect(again.isDone, "\(again)")
        for name in names {
            #expect(try fixture.source[ItemPath(name)]?.bytes == Array("text of \(name)".utf8))
            #expect(try fixture.text(name) == "text of \(name)")
        }
        let requests = fixture.source.changing.requests
        #expect(requests.count == names.count && Set(requests).count == names.count)
        #expect(try await fixture.records().isEmpty)
        #expect(try await fixture.issues().isEmpty)
        #expect(try fixture.outgoing().isEmpty)
        try fixture.vault.close()
    }

    @Test("P34: a running host goes on by itself when there is room again", .timeLimit(.minutes(20)))
    func running() async throws {
        try await withFullDisk { fixture, files, ballast in
            let run = Task { [fixture] in try await fixture.run() }
            // The first pause shows that the engine found the disk full.
            await until { !fixture.clock.slept.isEmpty }
            try await expectWhole(fixture, files, isComplete: false)
            Files.remove(ballast)
            while try await !fixture.records().isEmpty {
                fixture.clock.advance(.seconds(60))
                fixture.engine.wake()
                await Task.yield()
            }
            run.cancel()
            _ = await run.result
            try await expectWhole(fixture, files, isComplete: true)
        }
    }
}

import Database
import Glibc
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of a disk that drops what it fails to write and does not report the loss again.
@Suite(.serialized, .enabled(if: Build.isRoot, "mounting a disk image needs root"))
struct FailingDiskTests {
    private static let content = String(repeating: "0123456789abcdef", count: 1 << 16)

    @Test("After a disk failed to write, what is on it in the end is what the server has")
    func failedSync() async throws {
        try await withTemporaryFolder { folder in
            let memory = "\(folder)/memory"
            try Files.makeFolder(memory)
            // The image is sparse. The memory that backs it fills up, and from then on writes to its holes fail.
            try await mustRun("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", memory])
            do { try await fail(folder, memory) } catch { Issue.record(error) }
            try await mustRun("umount", ["--lazy", memory])
        }
    }

    private func fail(_ folder: String, _ memory: String) async throws {
        let image = try await DiskImage.make(.ext4WithoutJournal, at: "\(memory)/image")
        var files: [Item] = []
        try await image.mounted(at: "\(folder)/disk") {
            let fixture = try EngineFixture(folder: folder, files: "\(folder)/disk/files")
            // By this point the file system has written its own data to the image.
            let first = try await fixture.addFile("/first", "small")
            try await fixture.ask(.download, first, for: .availableOffline)
            #expect(try await fixture.drain().isDone)

            let ballast = open("\(memory)/ballast", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            let page = [UInt8](repeating: 7, count: 4096)
            while write(ballast, page, page.count) > 0 {}
            close(ballast)
            files = try await fixture.addFiles(3) { ("/f\($0)", Self.content) }
            for file in files { try await fixture.ask(.download, file, for: .availableOffline) }
            let outcome = try await fixture.drain()
            #expect(outcome.failure?.kind == .localIO, "\(String(describing: outcome.failure))")
            for file in files { #expect(try await fixture.now(file).cloudStatus == .cloudOnly) }

            Files.remove("\(memory)/ballast")
            #expect(try await fixture.drain().isDone)
            for file in files {
                #expect(try await fixture.now(file).cloudStatus == .localCopy)
            }
            #expect(files.contains { fixture.source.requestCount($0.path) > 1 })
            try fixture.vault.close()
        }
        // The second mount reads what the disk holds, and not what is in memory.
        try await image.mounted(at: "\(folder)/disk") {
            for file in files {
                let text = try Files.text("\(folder)/disk/files\(file.path.text)")
                #expect(text == Self.content, "\(file.path)")
            }
        }
    }
}

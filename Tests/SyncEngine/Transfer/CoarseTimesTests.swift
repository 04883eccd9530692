import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Tests of file systems that keep times in seconds. On these, a change of the same size right after a file was put in
/// place leaves the file's mark unchanged.
@Suite(.serialized, .enabled(if: Build.isRoot, "mounting a disk image needs root"))
struct CoarseTimesTests {
    static let disks = [DiskImage.Kind.ext4WithSmallInodes, .vfat].filter(\.isAvailable)

    private func with(_ kind: DiskImage.Kind, _ body: (EngineFixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let image = try await DiskImage.make(kind, at: folder + "/image")
            try await image.mounted(at: folder + "/disk") {
                let fixture = try EngineFixture(folder: folder + "/disk")
                do {
                    try await body(fixture)
                } catch {
                    try? fixture.vault.close()
                    throw error
                }
                try fixture.vault.close()
            }
        }
    }

    private func looks(_ fixture: EngineFixture, _ file: Item) throws -> stat {
        var info = stat()
        try #require(stat(fixture.tree.localPath(of: file.path), &info) == 0)
        return info
    }

    /// Makes a copy that is put in place and then changed, both within one step of the file system's times.
    /// - Parameter isPreserving: Whether the program that changes the file restores the modification time. If false,
    ///   the server's modification time is the current time instead.
    private func changedCopy(_ fixture: EngineFixture, _ path: String, isPreserving: Bool = true) async throws -> Item {
        for attempt in 0..<20 {
            var file = try await fixture.addFile("\(path)\(attempt)", "the server's")
            // The loop continues when a new step of the file system's times has begun.
            await until { Timestamp.now().nanoseconds % 2_000_000_000 <= 200_000_000 }
            if !isPreserving {
                file.lastModified = Timestamp(seconds: Timestamp.now().seconds)
                try await fixture.database.write { [file] tx in _ = try tx.items.update(file) }
            }
            try await fixture.ask(.download, file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            let before = try looks(fixture, file)
            let place = fixture.tree.localPath(of: file.path)
            let written = open(place, O_WRONLY | O_CLOEXEC)
            #expect(pwrite(written, "a person's !", 12, 0) == 12)
            close(written)
            if isPreserving {
                var times = [before.st_atim, before.st_mtim]
                try #require(utimensat(AT_FDCWD, place, &times, 0) == 0)
            }
            let after = try looks(fixture, file)
            if after.st_ctim.tv_sec == before.st_ctim.tv_sec, after.st_mtim.tv_sec == before.st_mtim.tv_sec {
                #expect(after.st_ino == before.st_ino && after.st_size == before.st_size)
                return try await fixture.now(file)
            }
        }
        throw SetupError("the machine is too slow for a change within a second")
    }

    private func expectKept(_ fixture: EngineFixture, _ file: Item) async throws {
        #expect(try fixture.text(file.path.text) == "a person's !")
        #expect(try await fixture.now(file).cloudStatus == .locallyModified)
    }

    @Test("P25: a change right after the copy came survives the end of its policy", arguments: disks, [true, false])
    func removed(kind: DiskImage.Kind, isPreserving: Bool) async throws {
        try await with(kind) { fixture in
            let file = try await changedCopy(fixture, "/a", isPreserving: isPreserving)
            try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), file, for: .availableOffline)
            _ = try await fixture.drain()
            try await expectKept(fixture, file)
        }
    }

    @Test("P41: it survives a new version on the server, and vacuum", arguments: disks)
    func replaced(kind: DiskImage.Kind) async throws {
        try await with(kind) { fixture in
            let file = try await changedCopy(fixture, "/a")
            try await fixture.change(file, "another text", version: "v2")
            try await fixture.ask(.download, file, for: .availableOffline)
            _ = try await fixture.drain()
            try await expectKept(fixture, file)

            let gone = try await changedCopy(fixture, "/b")
            try await fixture.database.write { tx in
                _ = try tx.scan.noteMissing(gone.databaseID)
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            try await fixture.ask(.purge, try await fixture.now(gone), for: .user)
            _ = try await fixture.drain()
            try await expectKept(fixture, gone)
        }
    }

    @Test(
        "It is found by a comparison, is not copied out as the server's, and a move keeps no proof of it",
        arguments: disks)
    func otherwise(kind: DiskImage.Kind) async throws {
        try await with(kind) { fixture in
            let file = try await changedCopy(fixture, "/a")
            let copy = try #require(file.copy)
            #expect(throws: Failure.self) {
                try CopyExport(fromTree: fixture.tree.root).write(file.path, digest: copy.digest, to: fixture.folder + "/out")
            }
            #expect(!Files.exists(fixture.folder + "/out"))
            #expect(try fixture.tree.move(from: file.path, to: ItemPath("/moved"), known: copy) == .moved(nil))
            #expect(try fixture.tree.remove(at: ItemPath("/moved"), known: copy) == .modified)
            #expect(try fixture.text("/moved") == "a person's !")

            let found = try await changedCopy(fixture, "/b")
            // Only vfat has no change time. On vfat, an equal mark is enough to leave the file alone, but never enough
            // to act on the file.
            if kind == .vfat { return }
            #expect(
                try Reconciler(database: fixture.database, tree: fixture.tree).run(at: found.path)?.map(\.kind) == [
                    .modified
                ])
            try await expectKept(fixture, found)
        }
    }

    @Test("What nobody changed goes, is replaced and is copied out as ever", arguments: disks)
    func unchanged(kind: DiskImage.Kind) async throws {
        try await with(kind) { fixture in
            let (file, other) = (try await fixture.addFile("/a", "one"), try await fixture.addFile("/b", "two"))
            for file in [file, other] { try await fixture.ask(.download, file, for: .availableOffline) }
            #expect(try await fixture.drain().isDone)
            let copy = try #require(try await fixture.now(file).copy)
            try CopyExport(fromTree: fixture.tree.root).write(file.path, digest: copy.digest, to: fixture.folder + "/out")
            #expect(try Files.text(fixture.folder + "/out") == "one")
            try await fixture.change(other, "new", version: "v2")
            try await fixture.ask(.download, other, for: .availableOffline)
            try await fixture.ask(.removeLocalCopy(restoringFormerTrigger: false), file, for: .availableOffline)
            #expect(try await fixture.drain().isDone)
            #expect(try fixture.text("/a") == nil && fixture.text("/b") == "new")
        }
    }
}

import Database
import Glibc
import LocalTree
import Model
import TestSupport
import Testing
import Vault

@testable import SyncEngine

/// Where times are kept in seconds, a change of the same size right after a file was put in place leaves all its looks as they were.
@Suite(.serialized, .enabled(if: Build.isRoot, "mounting a disk image needs root"))
struct CoarseTimesTests {
    static let disks = [DiskImage.Kind.ext4WithSmallInodes, .vfat].filter(\.isAvailable)

    private func with(_ kind: DiskImage.Kind, _ body: (Rig) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let image = try await DiskImage.make(kind, at: folder + "/image")
            try await image.mounted(at: folder + "/disk") {
                let rig = try Rig(folder: folder + "/disk")
                do {
                    try await body(rig)
                } catch {
                    try? rig.vault.close()
                    throw error
                }
                try rig.vault.close()
            }
        }
    }

    private func looks(_ rig: Rig, _ file: Item) throws -> stat {
        var info = stat()
        try #require(stat(rig.tree.localPath(of: file.path), &info) == 0)
        return info
    }

    /// A copy that was put in place and then changed, both within one step of the file system's times.
    /// - Parameter isPreserving: The program that changed it has put the modification time back. Else the server's was now.
    private func changedCopy(_ rig: Rig, _ path: String, isPreserving: Bool = true) async throws -> Item {
        for attempt in 0..<20 {
            var file = try await rig.addFile("\(path)\(attempt)", "the server's")
            // A new step begins.
            while Timestamp.now().nanoseconds % 2_000_000_000 > 200_000_000 {
                try await Task.sleep(for: .milliseconds(5))
            }
            if !isPreserving {
                file.lastModified = Timestamp(seconds: Timestamp.now().seconds)
                try await rig.database.write { [file] tx in _ = try tx.items.update(file) }
            }
            try await rig.ask(.download, file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            let before = try looks(rig, file)
            let place = rig.tree.localPath(of: file.path)
            let written = open(place, O_WRONLY | O_CLOEXEC)
            #expect(pwrite(written, "a person's !", 12, 0) == 12)
            close(written)
            if isPreserving {
                var times = [before.st_atim, before.st_mtim]
                try #require(utimensat(AT_FDCWD, place, &times, 0) == 0)
            }
            let after = try looks(rig, file)
            if after.st_ctim.tv_sec == before.st_ctim.tv_sec, after.st_mtim.tv_sec == before.st_mtim.tv_sec {
                #expect(after.st_ino == before.st_ino && after.st_size == before.st_size)
                return try await rig.now(file)
            }
        }
        throw SetupError("the machine is too slow for a change within a second")
    }

    private func expectKept(_ rig: Rig, _ file: Item) async throws {
        #expect(try rig.text(file.path.text) == "a person's !")
        #expect(try await rig.now(file).cloudStatus == .locallyModified)
    }

    @Test("P25: a change right after the copy came survives the end of its policy", arguments: disks, [true, false])
    func removed(kind: DiskImage.Kind, isPreserving: Bool) async throws {
        try await with(kind) { rig in
            let file = try await changedCopy(rig, "/a", isPreserving: isPreserving)
            try await rig.ask(.removeLocalCopy(restoringFormerTrigger: false), file, for: .availableOffline)
            _ = try await rig.drain()
            try await expectKept(rig, file)
        }
    }

    @Test("P41: it survives a new version on the server, and vacuum", arguments: disks)
    func replaced(kind: DiskImage.Kind) async throws {
        try await with(kind) { rig in
            let file = try await changedCopy(rig, "/a")
            try await rig.change(file, "another text", version: "v2")
            try await rig.ask(.download, file, for: .availableOffline)
            _ = try await rig.drain()
            try await expectKept(rig, file)

            let gone = try await changedCopy(rig, "/b")
            try await rig.database.write { tx in
                _ = try tx.scan.noteMissing(gone.databaseID)
                try tx.scan.removeMissing(at: Timestamp(seconds: 1_700_000_000))
            }
            try await rig.ask(.purge, try await rig.now(gone), for: .user)
            _ = try await rig.drain()
            try await expectKept(rig, gone)
        }
    }

    @Test(
        "It is found by a comparison, is not copied out as the server's, and a move keeps no proof of it",
        arguments: disks)
    func otherwise(kind: DiskImage.Kind) async throws {
        try await with(kind) { rig in
            let file = try await changedCopy(rig, "/a")
            let copy = try #require(file.copy)
            #expect(throws: Failure.self) { try rig.tree.export(file.path, known: copy, to: rig.folder + "/out") }
            #expect(!Files.exists(rig.folder + "/out"))
            #expect(try rig.tree.move(from: file.path, to: ItemPath("/moved"), known: copy) == .moved(nil))
            #expect(try rig.tree.remove(at: ItemPath("/moved"), known: copy) == .modified)
            #expect(try rig.text("/moved") == "a person's !")

            let found = try await changedCopy(rig, "/b")
            // Only vfat has no change time: there the looks are believed for leaving the file alone, never for an act.
            if kind == .vfat { return }
            #expect(
                try Reconciler(database: rig.database, tree: rig.tree).run(at: found.path)?.map(\.kind) == [.modified])
            try await expectKept(rig, found)
        }
    }

    @Test("What nobody changed goes, is replaced and is copied out as ever", arguments: disks)
    func unchanged(kind: DiskImage.Kind) async throws {
        try await with(kind) { rig in
            let (file, other) = (try await rig.addFile("/a", "one"), try await rig.addFile("/b", "two"))
            for file in [file, other] { try await rig.ask(.download, file, for: .availableOffline) }
            #expect(try await rig.drain().isDone)
            let copy = try #require(try await rig.now(file).copy)
            try rig.tree.export(file.path, known: copy, to: rig.folder + "/out")
            #expect(try Files.text(rig.folder + "/out") == "one")
            try await rig.change(other, "new", version: "v2")
            try await rig.ask(.download, other, for: .availableOffline)
            try await rig.ask(.removeLocalCopy(restoringFormerTrigger: false), file, for: .availableOffline)
            #expect(try await rig.drain().isDone)
            #expect(try rig.text("/a") == nil && rig.text("/b") == "new")
        }
    }
}

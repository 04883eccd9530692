import Glibc
import TestSupport
import Testing

@testable import Warehouse

extension OriginalBehaviours {
    /// Tests that run on every file system, as the original's behaviours do.
    @Suite struct FileSystemTests {
        private let fixture: StorageFixture

        init() throws { fixture = try StorageFixture() }

        @Test("W13: dates that were set survive updates, a restart, and a copy that keeps no times")
        func dates() async throws {
            let storage = fixture.storage()
            let id = try storage.createProject()
            let (created, modified) = (ProjectDate(nanoseconds: -1_234_567_891), ProjectDate(nanoseconds: 987_654_321))
            try storage.setCreationDate(created, of: id)
            try storage.setModificationDate(modified, of: id)
            try Files.write("x", to: "\(storage.fetchProject(id).assets)/x")
            for storage in [storage, fixture.storage()] {
                #expect(try storage.fetchProject(id).creationDate == created)
                #expect(try storage.fetchProject(id).modificationDate == modified)
            }
            try await mustRun("cp", ["-r", fixture.base, "\(fixture.folder)/copy"])
            let copy = try ProjectStorage(base: "\(fixture.folder)/copy", bundleID: "x").fetchProject(id)
            #expect((copy.creationDate, copy.modificationDate) == (created, modified))
            try storage.updateProject(ProjectUpdateRequest(projectID: id, userData: [1]))
            #expect(try storage.fetchProject(id).creationDate == created)
            #expect(try storage.fetchProject(id).modificationDate > modified)
        }

        @Test("W17: assets come from another file system than the one that the base folder is on")
        func crossDevice() throws {
            try withTemporaryFolder { folder in
                try Files.write([UInt8](repeating: 7, count: 3_000_000), to: "\(folder)/source/large")
                let storage = fixture.storage()
                let id = try storage.createProject()
                let step = try #require(
                    try storage.addSteps([StepContent(assetsSource: "\(folder)/source")], to: id).first)
                let assets = try storage.fetchStep(step, of: id).assets
                #expect(try Files.read("\(assets)/large").count == 3_000_000)
                #expect(!Files.exists("\(folder)/source"))
                if let root = StorageFixture.root, root != StorageFixture.memory {
                    #expect(try device(of: fixture.base) != device(of: folder))
                }
            }
        }

        @Test("W13: on every file system that can be had here")
        func variety() throws {
            let expected = FileSystem.allCases.filter { $0.obstacle == nil }
            #expect(MountedFileSystems.roots.count == expected.count)
            #expect(try Set(MountedFileSystems.roots.map(device)).count == expected.count)
            #expect(StorageFixture.root.map(MountedFileSystems.roots.contains) != false)
        }

        private func device(of path: String) throws -> dev_t {
            var info = stat()
            #expect(stat(path, &info) == 0)
            return info.st_dev
        }
    }
}

@Suite struct FileSystemObstacleTests {
    @Test(
        "W13: xfs can be tried here",
        .disabled(if: FileSystem.xfs.obstacle != nil, Comment(rawValue: FileSystem.xfs.obstacle ?? "")))
    func xfs() { #expect(FileSystem.xfs.obstacle == nil) }

    @Test(
        "W13: btrfs can be tried here",
        .disabled(if: FileSystem.btrfs.obstacle != nil, Comment(rawValue: FileSystem.btrfs.obstacle ?? "")))
    func btrfs() { #expect(FileSystem.btrfs.obstacle == nil) }
}

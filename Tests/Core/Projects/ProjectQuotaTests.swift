import Model
import TestSupport
import Testing
import Warehouse

@testable import Core

/// Tests of the space that a plugin's projects may take.
@Suite("A plugin's quota for projects")
struct ProjectQuotaTests {
    @Test("G11: what would go above the quota is refused, and leaves everything as it was")
    func quota() async throws {
        try await withKeeper(quota: 10_000) { keeper async throws in
            // The projects of other plugins do not count.
            let others = keeper.storage(for: "org.example.other")
            _ = try others.updateProject(
                ProjectUpdateRequest(projectID: others.createProject(), userData: [UInt8](repeating: 0, count: 50_000)))
            let theirs = try keeper.bytes()
            try await keeper("create", "large 6000")
            try Files.write([UInt8](repeating: 0, count: 5000), to: "\(keeper.folder)/assets/file")
            let before = try Files.filesBelow(keeper.base)
            #expect(
                try await keeper("large 4000", "add x \(keeper.folder)/assets", "duplicate", "fetch 0").prefix(4)
                    == ["large -8", "add -8", "duplicate -8", "fetch 0 1/1 undo 1 redo 0 steps null data absent"])
            #expect(try Files.filesBelow(keeper.base) == before && Files.exists("\(keeper.folder)/assets/file"))
            #expect(keeper.log.contains("but `project-quota` is 10000"))
            #expect(try await keeper("usage") == ["usage 0 \(try keeper.bytes() - theirs) of 10000"])
            // Changes that fit still succeed, and removed data makes room in the same update.
            #expect(
                try await keeper("large 3000", "undo", "large 3100", "undo", "undo", "large 9000") == [
                    "large 0", "undo 0", "large 0", "undo 0", "undo 0", "large 0",
                ])
            #expect(try await keeper("large 1", "large 900") == ["large 0", "large -8"])
        }
    }

    @Test("G11: at the quota a plugin may go back and forth, put smaller data in place, and remove")
    func shrinking() async throws {
        try await withTemporaryFolder { folder in
            var id = ""
            try await withKeeper(in: folder) { keeper async throws in
                try await keeper("create", "large 5000", "large 5000", "data 0123456789")
                id = try await keeper.project()
            }
            try await withKeeper(quota: 1000, in: folder) { keeper async throws in
                #expect(
                    try await keeper(
                        "use \(id)", "create", "data 0123456789a", "undo", "redo", "data 012345678", "delete 0") == [
                            "create -8", "data -8", "undo 0", "redo 0", "data 0", "delete 0",
                        ])
                #expect(try await keeper("remove", "create") == ["remove 0", "create 0"])
            }
        }
    }

    @Test("G11: what a person removes is room again, though the plugin counts what it writes")
    func removedByOthers() async throws {
        try await withKeeper(quota: 10_000) { keeper async throws in
            #expect(try await keeper("create", "large 8000", "large 3000") == ["create 0", "large 0", "large -8"])
            let id = try #require(ProjectID(try await keeper.project()))
            try keeper.storage().deleteProject(id)
            #expect(try await keeper("create", "large 8000", "large 3000") == ["create 0", "large 0", "large -8"])
        }
    }

    @Test(
        "W07: on a full disk a step is refused, and the project is as it was",
        .enabled(if: Build.isRoot, "mounting needs root"))
    func fullDisk() async throws {
        try await withTemporaryFolder { folder in
            let mount = "\(folder)/small"
            try Files.makeFolder(mount)
            try await mustRun("mount", ["-t", "tmpfs", "-o", "size=1M", "tmpfs", mount])
            do {
                try await withKeeper(base: "\(mount)/projects", in: folder) { keeper async throws in
                    #expect(
                        try await keeper("create", "large 500000", "large 900000", "fetch 0").prefix(4) == [
                            "create 0", "large 0", "large -10", "fetch 0 1/1 undo 1 redo 0 steps null data absent",
                        ])
                    #expect(
                        keeper.log.contains("projects.add_step during didPassTrigger: ")
                            && keeper.log.contains("No space left on device"))
                    #expect(try await keeper("large 400000") == ["large 0"])
                }
            } catch {
                try await mustRun("umount", [mount])
                throw error
            }
            try await mustRun("umount", [mount])
        }
    }
}

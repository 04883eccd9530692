import TestSupport
import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct CreateTests {
        private let fixture: StorageFixture

        init() throws { fixture = try StorageFixture() }

        @Test("W behaviour 1: creating a project returns its id")
        func create() throws {
            let id = try fixture.storage().createProject()
            #expect(Files.isFolder("\(fixture.base)/\(id)"))
        }

        @Test("W behaviour 2: with an invalid base folder it is a failed write")
        func invalidBase() throws {
            let storage = ProjectStorage(base: try fixture.invalidBase, bundleID: "org.example.editor")
            #expect(failure { () throws(ProjectError) in try storage.createProject() }?.code == .writeFailed)
        }

        @Test("W behaviour 3: another storage with the same base folder lists it")
        func secondStorage() throws {
            let id = try fixture.storage().createProject()
            #expect(try fixture.storage().projectIDs() == [id])
        }

        @Test("W behaviour 4: a new project has no steps")
        func noSteps() throws {
            let storage = fixture.storage()
            #expect(try storage.fetchProject(storage.createProject(), .stepIDs).stepIDs == [])
        }

        @Test("W behaviour 5: a new project's cursor is 0")
        func cursor() throws {
            let storage = fixture.storage()
            #expect(try storage.fetchProject(storage.createProject()).stepCursor == 0)
        }

        @Test("W behaviour 6: a new project's user data are empty")
        func userData() throws {
            let storage = fixture.storage()
            #expect(try storage.fetchProject(storage.createProject(), .userData).userData == [])
        }

        @Test("W behaviour 7: the bundle id is the creator's, also for a storage with another one")
        func bundleID() throws {
            let id = try fixture.storage(bundleID: "org.example.creator").createProject()
            #expect(
                try fixture.storage(bundleID: "org.example.other").fetchProject(id).bundleID == "org.example.creator")
        }

        @Test("W behaviour 8: the assets lie below the base folder")
        func assets() throws {
            let storage = fixture.storage()
            let assets = try storage.fetchProject(storage.createProject()).assets
            #expect(assets.hasPrefix(fixture.base + "/"))
            #expect(Files.isFolder(assets))
        }
    }
}

import TestSupport
import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct CreateTests {
        private let place: Place

        init() throws { place = try Place() }

        @Test("W behaviour 1: creating a project returns its id")
        func create() throws {
            let id = try place.storage().createProject()
            #expect(Files.isFolder("\(place.base)/\(id)"))
        }

        @Test("W behaviour 2: with an invalid base folder it is a failed write")
        func invalidBase() throws {
            let storage = ProjectStorage(base: try place.invalidBase, bundleID: "org.example.editor")
            #expect(failure { () throws(ProjectError) in try storage.createProject() }?.code == .writeFailed)
        }

        @Test("W behaviour 3: another storage with the same base folder lists it")
        func secondStorage() throws {
            let id = try place.storage().createProject()
            #expect(try place.storage().projectIDs() == [id])
        }

        @Test("W behaviour 4: a new project has no steps")
        func noSteps() throws {
            let storage = place.storage()
            #expect(try storage.fetchProject(storage.createProject(), .stepIDs).stepIDs == [])
        }

        @Test("W behaviour 5: a new project's cursor is 0")
        func cursor() throws {
            let storage = place.storage()
            #expect(try storage.fetchProject(storage.createProject()).stepCursor == 0)
        }

        @Test("W behaviour 6: a new project's user data are empty")
        func userData() throws {
            let storage = place.storage()
            #expect(try storage.fetchProject(storage.createProject(), .userData).userData == [])
        }

        @Test("W behaviour 7: the bundle id is the creator's, also for a storage with another one")
        func bundleID() throws {
            let id = try place.storage(bundleID: "org.example.creator").createProject()
            #expect(try place.storage(bundleID: "org.example.other").fetchProject(id).bundleID == "org.example.creator")
        }

        @Test("W behaviour 8: the assets lie below the base folder")
        func assets() throws {
            let storage = place.storage()
            let assets = try storage.fetchProject(storage.createProject()).assets
            #expect(assets.hasPrefix(place.base + "/"))
            #expect(Files.isFolder(assets))
        }
    }
}

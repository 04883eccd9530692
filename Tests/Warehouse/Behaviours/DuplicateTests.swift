import TestSupport
import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct DuplicateTests {
        private let fixture: StorageFixture
        private let storage: ProjectStorage
        private let id: ProjectID

        init() throws {
            fixture = try StorageFixture()
            storage = fixture.storage(bundleID: "org.example.creator")
            id = try storage.createProject()
            try storage.addSteps([StepContent(userData: [1], assetsSource: fixture.source()), StepContent()], to: id)
            try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 1, userData: [5, 6]))
            try Files.write("shared", to: "\(storage.fetchProject(id).assets)/folder/shared.txt")
        }

        @Test("W behaviour 40: both are in the list")
        func listed() throws {
            let copy = try storage.duplicateProject(id)
            #expect(try Set(storage.projectIDs()) == [id, copy])
        }

        @Test("W behaviour 41: the bundle id is the same")
        func bundleID() throws {
            let copy = try fixture.storage(bundleID: "org.example.other").duplicateProject(id)
            #expect(try storage.fetchProject(copy).bundleID == "org.example.creator")
        }

        @Test("W behaviour 42: the step ids are the same")
        func stepIDs() throws {
            let copy = try storage.duplicateProject(id)
            #expect(try storage.stepIDs(of: copy) == storage.stepIDs(of: id))
            #expect(try storage.stepIDs(of: copy).count == 2)
        }

        @Test("W behaviour 43: the cursor is the same")
        func cursor() throws {
            #expect(try storage.fetchProject(storage.duplicateProject(id)).stepCursor == 1)
        }

        @Test("W behaviour 44: the user data are the same")
        func userData() throws {
            #expect(try storage.fetchProject(storage.duplicateProject(id), .userData).userData == [5, 6])
        }

        @Test("W behaviour 45: the assets lie elsewhere, have the same content, and the original's are still there")
        func assets() throws {
            let copy = try storage.fetchProject(storage.duplicateProject(id)).assets
            let original = try storage.fetchProject(id).assets
            #expect(copy != original)
            #expect(try Files.text("\(copy)/folder/shared.txt") == "shared")
            #expect(try Files.text("\(original)/folder/shared.txt") == "shared")
        }

        @Test("W behaviour 46: a step has the same id and user data, another project, and a copy of the assets")
        func step() throws {
            let copy = try storage.duplicateProject(id)
            let stepID = try #require(storage.stepIDs(of: copy).first)
            let (ours, theirs) = (try storage.fetchStep(stepID, of: copy), try storage.fetchStep(stepID, of: id))
            #expect(ours.id == theirs.id)
            #expect(ours.userData == [1])
            #expect(ours.userData == theirs.userData)
            #expect((ours.projectID, theirs.projectID) == (copy, id))
            #expect(ours.assets != theirs.assets)
            for step in [ours, theirs] { #expect(try Files.text("\(step.assets)/thumbnail.png") == "picture") }
        }

        @Test("W behaviour 47: duplicating an unknown project is a failed write")
        func unknown() {
            #expect(
                failure { () throws(ProjectError) in try storage.duplicateProject(ProjectID()) }?.code == .writeFailed)
        }
    }
}

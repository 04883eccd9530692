import Glibc
import TestSupport
import Testing

@testable import Warehouse

extension OriginalBehaviours {
    @Suite struct FetchTests {
        private let fixture: StorageFixture
        private let storage: ProjectStorage
        private let id: ProjectID

        init() throws {
            fixture = try StorageFixture()
            storage = fixture.storage()
            id = try storage.project(steps: 2)
            try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 1, userData: [7, 8]))
        }

        @Test("W behaviour 16: without options all that is small is there, and no step ids and user data")
        func nothing() throws {
            let project = try storage.fetchProject(id)
            #expect(project.id == id)
            #expect(project.bundleID == "org.example.editor")
            #expect(project.creationDate <= project.modificationDate)
            #expect(project.creationDate > ProjectDate(nanoseconds: 0))
            #expect(project.stepCursor == 1)
            #expect(Files.isFolder(project.assets))
            #expect(project.stepIDs == nil)
            #expect(project.userData == nil)
            #expect(try storage.size(of: id) > 0)
        }

        @Test("W behaviour 17: with all options step ids and user data are there")
        func all() throws {
            let project = try storage.fetchProject(id, .all)
            #expect(project.stepIDs?.count == 2)
            #expect(project.userData == [7, 8])
        }

        @Test("W behaviour 18: the user data alone")
        func userData() throws {
            let project = try storage.fetchProject(id, .userData)
            #expect(project.stepIDs == nil)
            #expect(project.userData == [7, 8])
        }

        @Test("W behaviour 19: the step ids alone")
        func stepIDs() throws {
            let project = try storage.fetchProject(id, .stepIDs)
            #expect(project.stepIDs?.count == 2)
            #expect(project.userData == nil)
        }

        @Test("W behaviour 20: an unknown project is a failed fetch")
        func unknown() {
            let error = failure { () throws(ProjectError) in try storage.fetchProject(ProjectID()) }
            #expect(error?.code == .fetchFailed)
            #expect(error?.underlying as? ProjectProblem == .noSuchProject)
        }

        @Test("W behaviour 48: a step's user data are those given, and its assets exist though none were given")
        func step() throws {
            let step = try storage.fetchStep(#require(storage.stepIDs(of: id).last), of: id)
            #expect(step.userData == [1])
            #expect(step.projectID == id)
            #expect(try Files.names(in: step.assets) == [])
        }

        @Test("W behaviour 49: an unknown step is a failed fetch")
        func unknownStep() {
            let error = failure { () throws(ProjectError) in try storage.fetchStep(StepID(), of: id) }
            #expect(error?.code == .fetchFailed)
            #expect(error?.underlying as? ProjectProblem == .noSuchStep)
        }

        @Test("W behaviour 50: a step of an unknown project is a failed fetch")
        func stepOfUnknown() throws {
            let step = try #require(storage.stepIDs(of: id).first)
            let error = failure { () throws(ProjectError) in try storage.fetchStep(step, of: ProjectID()) }
            #expect(error?.code == .fetchFailed)
            #expect(error?.underlying as? ProjectProblem == .noSuchProject)
        }
    }
}

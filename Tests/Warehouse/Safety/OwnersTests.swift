import TestSupport
import Testing

@testable import Warehouse

/// Tests for a host that keeps the projects of several programs in one folder.
@Suite struct OwnersTests {
    @Test("W01 W03: one program's projects are listed alone, without what cannot be read")
    func owners() throws {
        let fixture = try StorageFixture()
        let storage = fixture.storage()
        let (first, second) = (try storage.createProject(), try storage.createProject(for: "org.example.other"))
        #expect(try storage.fetchProject(second).bundleID == "org.example.other")
        #expect(try storage.projectIDs(of: "org.example.editor") == [first])
        #expect(try storage.projectIDs(of: "org.example.other") == [second])
        #expect(try storage.projectIDs(of: "org.example") == [])
        try Files.write("{", to: "\(fixture.base)/\(second)/data/metadata")
        #expect(try storage.projectIDs(of: "org.example.other") == [] && storage.projectIDs().count == 2)
    }

    @Test("W16: by how much an update makes a project grow is told before, from what it changes")
    func growth() throws {
        let fixture = try StorageFixture()
        let storage = fixture.storage()
        let id = try storage.createProject()
        func update(_ request: ProjectUpdateRequest) throws {
            let (before, told) = (try storage.size(of: id), try storage.growth(by: request))
            try storage.updateProject(request)
            // The cursor and the dates have as many digits as before.
            #expect(try Int64(storage.size(of: id)) - Int64(before) == told)
        }
        let steps = [
            StepContent(userData: [1, 2, 3]),
            StepContent(assetsSource: try fixture.source(["a": "12345", "b/c": "6"])),
        ]
        try update(ProjectUpdateRequest(projectID: id, stepsToAdd: steps, userData: [UInt8](repeating: 0, count: 9)))
        let all = try #require(try storage.fetchProject(id, .stepIDs).stepIDs)
        try update(ProjectUpdateRequest(projectID: id, stepCursor: 1))
        try update(ProjectUpdateRequest(projectID: id, stepIDsToDelete: [all[1], StepID()], userData: [7]))
        try update(ProjectUpdateRequest(projectID: id, stepCursor: 0, stepIDsToDelete: all, userData: []))
        #expect(throws: ProjectError.self) {
            try storage.growth(
                by: ProjectUpdateRequest(
                    projectID: id, stepsToAdd: [StepContent(assetsSource: "\(fixture.folder)/none")])
            )
        }
    }

    @Test("W19: a storage that is opened to read from makes no folder, and removes nothing")
    func reading() throws {
        let fixture = try StorageFixture()
        let reading = ProjectStorage(readingFrom: fixture.base)
        #expect(throws: ProjectError.self) { try reading.projectIDs() }
        #expect(!Files.exists(fixture.base))
        let id = try fixture.storage().createProject()
        try Files.write("left", to: "\(fixture.base)/.staging/left")
        let again = ProjectStorage(readingFrom: fixture.base)
        #expect(try again.projectIDs() == [id] && again.fetchProject(id, .all).userData == [])
        #expect(Files.exists("\(fixture.base)/.staging/left"))
        _ = fixture.storage()
        #expect(!Files.exists("\(fixture.base)/.staging/left"))
    }
}

import Glibc
import TestSupport
import Testing

@testable import Warehouse

@Suite struct DuplicatingTests {
    @Test("W12: a duplicate has new dates, shares no file with the original, and neither's changes concern the other")
    func apart() throws {
        let fixture = try StorageFixture()
        let clock = SetClock()
        clock.date = ProjectDate(nanoseconds: 10)
        let storage = fixture.storage(clock: clock)
        let id = try storage.createProject()
        try storage.addSteps([StepContent(userData: [1], assetsSource: fixture.source(["a": "1"]))], to: id)
        try storage.updateProject(ProjectUpdateRequest(projectID: id, userData: [5]))
        let assets = try storage.fetchProject(id).assets
        try Files.write("shared", to: "\(assets)/shared")
        #expect(link("\(assets)/shared", "\(assets)/again") == 0)
        #expect(symlink("/outside", "\(assets)/link") == 0)

        clock.date = ProjectDate(nanoseconds: 20)
        let copy = try storage.duplicateProject(id)
        let (ours, theirs) = (try storage.fetchProject(copy, .all), try storage.fetchProject(id, .all))
        #expect(ours.creationDate == clock.date && ours.modificationDate == clock.date)
        #expect(theirs.creationDate.nanoseconds == 10 && theirs.modificationDate.nanoseconds == 10)
        func inodes(_ id: ProjectID) throws -> Set<ino_t> {
            try Set(
                Files.filesBelow("\(fixture.base)/\(id)").map { path in
                    var info = stat()
                    #expect(stat("\(fixture.base)/\(id)/\(path)", &info) == 0)
                    return info.st_ino
                })
        }
        #expect(try inodes(id).isDisjoint(with: inodes(copy)))
        #expect(try Files.names(in: ours.assets) == ["again", "link", "shared"])

        let before = try Observation.files("\(fixture.base)/\(copy)")
        try Files.write("changed", to: "\(assets)/shared")
        try storage.updateProject(id, .all) { project in
            var request = ProjectUpdateRequest.addStep(StepContent(), to: project)
            request?.stepIDsToDelete = project.stepIDs ?? []
            request?.stepCursor = 1
            request?.userData = [6]
            return request
        }
        #expect(try Observation.files("\(fixture.base)/\(copy)") == before)
        try storage.deleteProject(id)
        #expect(try storage.fetchProject(copy, .all) == ours)
        #expect(try Files.text("\(ours.assets)/shared") == "shared")
    }

    @Test("W12: a duplicate of a hundred steps has them all, in order")
    func many() throws {
        let fixture = try StorageFixture()
        let storage = fixture.storage()
        let id = try storage.project(steps: 100)
        let copy = try storage.duplicateProject(id)
        let userData = try storage.stepIDs(of: copy).map { try storage.fetchStep($0, of: copy).userData }
        #expect(userData == (0..<100).map { [UInt8($0)] })
    }
}

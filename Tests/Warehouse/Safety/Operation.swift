import Glibc
import TestSupport

@testable import Warehouse

/// An operation on a storage that is stopped or whose disk fails.
enum Operation: String, CaseIterable, Sendable {
    case create, firstStep, update, move, undo, duplicate, delete, setDate

    /// A storage that has a project with undone steps, user data and assets.
    struct Fixture: Sendable {
        var folder: StorageFixture
        var faults = DiskFaults()
        var clock = SetClock()
        var storage: ProjectStorage
        var id: ProjectID
        var empty: ProjectID
        var source: String

        /// Makes the storage and its projects.
        /// - Parameter exchanges: Whether the file system has `RENAME_EXCHANGE`.
        init(exchanges: Bool) throws {
            folder = try StorageFixture()
            clock.date = ProjectDate(nanoseconds: 1_000)
            if !exchanges { faults.refuse(.exchange, with: EINVAL) }
            storage = folder.storage(faults: faults, clock: clock)
            id = try storage.createProject()
            let contents = [
                StepContent(userData: [1], assetsSource: try folder.source(["a": "1"])), StepContent(userData: [2]),
                StepContent(userData: [3], assetsSource: try folder.source(["c/d": "3"])),
            ]
            try storage.addSteps(contents, to: id)
            try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 2, userData: [9]))
            try Files.write("shared", to: "\(storage.fetchProject(id).assets)/shared")
            empty = try storage.createProject()
            source = try folder.source(["new/picture": "4"])
            clock.date = ProjectDate(nanoseconds: 2_000)
        }
    }

    func perform(_ fixture: Fixture) throws {
        let (storage, id) = (fixture.storage, fixture.id)
        switch self {
        case .create: _ = try storage.createProject()
        case .firstStep:
            try storage.updateProject(
                ProjectUpdateRequest(projectID: fixture.empty, stepCursor: 1, stepsToAdd: [StepContent()]))
        case .update:
            try storage.updateProject(id, .all) { project in
                var request = ProjectUpdateRequest.addStep(
                    StepContent(userData: [4], assetsSource: fixture.source), to: project)
                request?.userData = [8]
                return request
            }
        case .move:
            try storage.updateProject(id, .stepIDs) { project in
                .addStep(StepContent(userData: [4], assetsSource: fixture.source, sourceUse: .moved), to: project)
            }
        case .undo: try storage.updateProject(id, []) { ProjectUpdateRequest.undo($0) }
        case .duplicate: _ = try storage.duplicateProject(id)
        case .delete: try storage.deleteProject(id)
        case .setDate: try storage.setCreationDate(ProjectDate(nanoseconds: 5), of: id)
        }
    }

    /// Whether the operation replaces a project's data, so that the way in which the new data take their folder
    /// matters.
    var replacesData: Bool { [.firstStep, .update, .move, .undo, .setDate].contains(self) }

    var failureCode: ProjectError.Code { self == .delete ? .deleteFailed : .writeFailed }

    /// Returns what a reader observes before and after an undisturbed run.
    func states(exchanges: Bool) throws -> (before: Observation, after: Observation) {
        let fixture = try Fixture(exchanges: exchanges)
        let before = try Observation(fixture.storage)
        try perform(fixture)
        return (before, try Observation(fixture.storage))
    }
}

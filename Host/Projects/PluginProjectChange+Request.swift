import CLarder
import Glibc
import Model
import PluginHost
import Warehouse

extension PluginProjectChange {
    func request(for found: ProjectSnapshot) throws(ServiceError) -> ProjectUpdateRequest {
        switch self {
        case .undo: return try existing(.undo(found), "the project has no step to undo")
        case .redo: return try existing(.redo(found), "the project has no step to redo")
        case .addStep(let step, let userData):
            var request = try existing(.addStep(step.content, to: found), "the project's steps cannot be read")
            request.userData = userData
            return request
        case .update(let update):
            if let expected = update.ifModified, expected.nanoseconds != found.modificationDate.nanoseconds {
                throw ServiceError(LARDER_CONFLICT, "the project was updated meanwhile")
            }
            return ProjectUpdateRequest(
                projectID: found.id, stepCursor: update.cursor,
                stepIDsToDelete: update.stepsToDelete.compactMap { StepID($0) },
                stepsToAdd: update.stepsToAdd.map(\.content), userData: update.userData)
        }
    }

    private func existing(
        _ request: ProjectUpdateRequest?, _ absence: String
    ) throws(ServiceError) -> ProjectUpdateRequest {
        guard let request else { throw ServiceError(LARDER_NOT_FOUND, absence) }
        return request
    }
}

extension PluginProjectChange.NewStep {
    var content: StepContent { StepContent(userData: userData, assetsSource: assetsSource, sourceUse: .copied) }
}

/// Converts the errors of a storage to those of a service.
@discardableResult
func serving<Result>(_ body: () throws(ProjectError) -> Result) throws(ServiceError) -> Result {
    do throws(ProjectError) { return try body() } catch { throw ServiceError(error) }
}

extension ServiceError {
    static var noSuchProject: ServiceError { ServiceError(LARDER_NOT_FOUND, "there is no such project") }
    static var noSuchStep: ServiceError { ServiceError(LARDER_NOT_FOUND, "there is no such step") }

    init(_ error: ProjectError) {
        let status =
            switch error.underlying as? ProjectProblem {
            case .noSuchProject, .noSuchStep: LARDER_NOT_FOUND
            case .cursorOutOfRange, .badSource, .sourceElsewhere: LARDER_INVALID_ARGUMENT
            case .otherProject: LARDER_INTERNAL
            case .damaged, .newerFormat, nil: LARDER_IO
            }
        self.init(status, error.description)
    }
}

extension SystemCallError {
    var isAbsence: Bool { code == ENOENT }
}

extension ProjectDate {
    init(_ time: Timestamp) { self.init(nanoseconds: time.nanoseconds) }
}

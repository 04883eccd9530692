import FoundationEssentials
import Warehouse

/// What this editor keeps with a project: what its current step is called.
struct ProjectData: Codable {
    var currentStep: String
}

/// What it keeps with each step, besides the thumbnail among the step's assets.
struct StepData: Codable {
    var description: String
}

/// Adds what the person just did as a step.
func addStep(_ description: String, thumbnail: Data, to id: ProjectID, in storage: ProjectStorage) throws {
    // The folder is copied as the step's assets, and is gone once the step was added.
    let assets = FileManager.default.temporaryDirectory.appending(path: "step-\(StepID())")
    try FileManager.default.createDirectory(at: assets, withIntermediateDirectories: true)
    try thumbnail.write(to: assets.appending(path: "thumbnail.png"))

    let content = StepContent(
        userData: Array(try JSONEncoder().encode(StepData(description: description))), assetsSource: assets.path)
    let projectData = Array(try JSONEncoder().encode(ProjectData(currentStep: description)))

    // The request is made from the project as it is, and nobody else can change it before the request is applied.
    try storage.updateProject(id, .stepIDs) { project in
        var request = ProjectUpdateRequest.addStep(content, to: project)
        request?.userData = projectData
        return request
    }
}

/// Goes one step back.
/// - Returns: false if there is none.
func undo(_ id: ProjectID, in storage: ProjectStorage) throws -> Bool {
    let project = try storage.fetchProject(id, .stepIDs)
    guard var request = ProjectUpdateRequest.undo(project), let cursor = request.stepCursor else { return false }

    // The step that will be the current one says what the project's data are to say.
    var description = "nothing done yet"
    if cursor > 0, let stepIDs = project.stepIDs {
        let step = try storage.fetchStep(stepIDs[cursor - 1], of: id)
        description = try JSONDecoder().decode(StepData.self, from: Data(step.userData)).description
    }
    request.userData = Array(try JSONEncoder().encode(ProjectData(currentStep: description)))
    try storage.updateProject(request)
    return true
}

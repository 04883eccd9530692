/// A step of a project: one change that the person made. A step never changes after it was added.
public struct Step: Hashable, Sendable {
    /// The step's id.
    public var id: StepID
    /// The id of the project that the step belongs to.
    public var projectID: ProjectID
    /// The step's user data, which only the program interprets.
    public var userData: [UInt8]
    /// The path of the folder with the step's assets. The folder always exists; it is empty if the step was added
    /// without assets.
    public var assets: String

    /// Creates a step value. Steps are added to a project with ``ProjectUpdateRequest``.
    public init(id: StepID, projectID: ProjectID, userData: [UInt8], assets: String) {
        self.id = id
        self.projectID = projectID
        self.userData = userData
        self.assets = assets
    }
}

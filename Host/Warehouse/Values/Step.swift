/// A step of a project: one change that the person made. It never changes once it was added.
public struct Step: Hashable, Sendable {
    public var id: StepID
    public var projectID: ProjectID
    /// Bytes of the program's own.
    public var userData: [UInt8]
    /// The path of the folder with the step's assets. It is always there, and empty if the step was added without any.
    public var assets: String

    public init(id: StepID, projectID: ProjectID, userData: [UInt8], assets: String) {
        self.id = id
        self.projectID = projectID
        self.userData = userData
        self.assets = assets
    }
}

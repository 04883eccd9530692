/// A project as it was in the storage at one moment. It does not follow later changes.
public struct ProjectSnapshot: Hashable, Sendable {
    public var id: ProjectID
    /// The program that created the project.
    public var bundleID: String
    public var creationDate: ProjectDate
    /// When the project was created or last updated. Changes of the assets do not count.
    public var modificationDate: ProjectDate
    /// The steps in their order; nil unless ``ProjectFetchOptions/stepIDs`` was asked for.
    public var stepIDs: [StepID]?
    /// How many of the steps are applied: the current step is the one before this index, and at 0 there is none.
    public var stepCursor: Int
    /// Bytes of the program's own; nil unless ``ProjectFetchOptions/userData`` was asked for.
    public var userData: [UInt8]?
    /// The path of a folder whose content is the program's own. Changes in it are not part of any update.
    public var assets: String

    public init(
        id: ProjectID, bundleID: String, creationDate: ProjectDate, modificationDate: ProjectDate,
        stepIDs: [StepID]? = nil, stepCursor: Int, userData: [UInt8]? = nil, assets: String
    ) {
        self.id = id
        self.bundleID = bundleID
        self.creationDate = creationDate
        self.modificationDate = modificationDate
        self.stepIDs = stepIDs
        self.stepCursor = stepCursor
        self.userData = userData
        self.assets = assets
    }

    /// Whether there is a step to go back from.
    public var canUndo: Bool { stepCursor > 0 }

    /// Whether there is a step to go forward to. False if the step ids were not fetched.
    public var canRedo: Bool { stepIDs.map { stepCursor < $0.count } ?? false }
}

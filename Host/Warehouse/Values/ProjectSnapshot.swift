/// The state of a project in the storage at one moment. A snapshot does not follow later changes.
public struct ProjectSnapshot: Hashable, Sendable {
    /// The project's id.
    public var id: ProjectID
    /// The id of the program that the project was created for.
    public var bundleID: String
    /// The time when the project was created, unless the program set another date.
    public var creationDate: ProjectDate
    /// The time when the project was created or last updated, unless the program set another date. Changes of the
    /// assets do not count.
    public var modificationDate: ProjectDate
    /// The ids of the steps in order; nil unless ``ProjectFetchOptions/stepIDs`` was given.
    public var stepIDs: [StepID]?
    /// The number of applied steps. The current step is the one before this index; at 0 there is no current step.
    public var stepCursor: Int
    /// The user data, which only the program interprets; nil unless ``ProjectFetchOptions/userData`` was given.
    public var userData: [UInt8]?
    /// The path of the assets folder, whose content belongs to the program. Changes in the folder are not part of any
    /// update.
    public var assets: String

    /// Creates a snapshot.
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

    /// Whether a step is applied that can be undone.
    public var canUndo: Bool { stepCursor > 0 }

    /// Whether a step follows that can be redone. False if the step ids were not fetched.
    public var canRedo: Bool { stepIDs.map { stepCursor < $0.count } ?? false }
}

/// A change of a project, applied as a whole by ``ProjectStorage/updateProject(_:)``.
///
/// A value: it can be looked at, changed, and split into several before it is applied.
public struct ProjectUpdateRequest: Hashable, Sendable {
    public var projectID: ProjectID
    /// How many steps are to be applied after the update; nil: as many as now.
    public var stepCursor: Int?
    /// Ids that the project does not have are passed over.
    public var stepIDsToDelete: [StepID]
    /// Added behind the steps that are applied now, in this order.
    public var stepsToAdd: [StepContent]
    /// What replaces the project's user data; nil: it stays.
    public var userData: [UInt8]?

    public init(
        projectID: ProjectID, stepCursor: Int? = nil, stepIDsToDelete: [StepID] = [], stepsToAdd: [StepContent] = [],
        userData: [UInt8]? = nil
    ) {
        self.projectID = projectID
        self.stepCursor = stepCursor
        self.stepIDsToDelete = stepIDsToDelete
        self.stepsToAdd = stepsToAdd
        self.userData = userData
    }

    /// Goes one step back.
    /// - Returns: nil if no step is applied.
    public static func undo(_ snapshot: ProjectSnapshot) -> ProjectUpdateRequest? {
        guard snapshot.canUndo else { return nil }
        return ProjectUpdateRequest(projectID: snapshot.id, stepCursor: snapshot.stepCursor - 1)
    }

    /// Goes one step forward.
    /// - Returns: nil if all steps are applied, or the snapshot has no step ids.
    public static func redo(_ snapshot: ProjectSnapshot) -> ProjectUpdateRequest? {
        guard snapshot.canRedo else { return nil }
        return ProjectUpdateRequest(projectID: snapshot.id, stepCursor: snapshot.stepCursor + 1)
    }

    /// Adds a step behind the current one and makes it current; the steps that were undone are deleted.
    /// - Returns: nil if the snapshot has no step ids, or they are fewer than the cursor says.
    public static func addStep(_ content: StepContent, to snapshot: ProjectSnapshot) -> ProjectUpdateRequest? {
        guard let stepIDs = snapshot.stepIDs, (0...stepIDs.count).contains(snapshot.stepCursor) else { return nil }
        return ProjectUpdateRequest(
            projectID: snapshot.id, stepCursor: snapshot.stepCursor + 1,
            stepIDsToDelete: Array(stepIDs[snapshot.stepCursor...]), stepsToAdd: [content])
    }
}

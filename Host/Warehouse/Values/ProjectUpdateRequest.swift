/// A change of a project. ``ProjectStorage/updateProject(_:)`` applies the request as a whole or not at all.
///
/// A request is a value: a program can inspect it, change it, and split it into several requests before it applies
/// them.
public struct ProjectUpdateRequest: Hashable, Sendable {
    /// The id of the project to update.
    public var projectID: ProjectID
    /// The number of applied steps after the update; nil keeps the present number.
    public var stepCursor: Int?
    /// The ids of the steps to delete. Ids that the project does not contain are ignored.
    public var stepIDsToDelete: [StepID]
    /// The steps to add, in this order. They are inserted after the steps that are applied before the update.
    public var stepsToAdd: [StepContent]
    /// The new user data of the project; nil keeps the present user data.
    public var userData: [UInt8]?

    /// Creates a request. With the default arguments the request changes only the project's modification date.
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

    /// Returns a request that moves the step cursor one step back.
    /// - Returns: The request; nil if no step is applied.
    public static func undo(_ snapshot: ProjectSnapshot) -> ProjectUpdateRequest? {
        guard snapshot.canUndo else { return nil }
        return ProjectUpdateRequest(projectID: snapshot.id, stepCursor: snapshot.stepCursor - 1)
    }

    /// Returns a request that moves the step cursor one step forward.
    /// - Returns: The request; nil if all steps are applied or the snapshot has no step ids.
    public static func redo(_ snapshot: ProjectSnapshot) -> ProjectUpdateRequest? {
        guard snapshot.canRedo else { return nil }
        return ProjectUpdateRequest(projectID: snapshot.id, stepCursor: snapshot.stepCursor + 1)
    }

    /// Returns a request that adds a step after the current step, makes the new step current and deletes the undone
    /// steps.
    /// - Returns: The request; nil if the snapshot has no step ids or has fewer step ids than its cursor requires.
    public static func addStep(_ content: StepContent, to snapshot: ProjectSnapshot) -> ProjectUpdateRequest? {
        guard let stepIDs = snapshot.stepIDs, (0...stepIDs.count).contains(snapshot.stepCursor) else { return nil }
        return ProjectUpdateRequest(
            projectID: snapshot.id, stepCursor: snapshot.stepCursor + 1,
            stepIDsToDelete: Array(stepIDs[snapshot.stepCursor...]), stepsToAdd: [content])
    }
}

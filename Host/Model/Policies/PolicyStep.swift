/// A step in the history of the policies: one change of policies, by any author.
public struct PolicyStep: Hashable, Codable, Sendable {
    /// The author of the change.
    public var author: PolicyAuthor
    /// Whether the change did not run the processors, such as when a policy follows its target. Undo and redo skip
    /// quiet steps.
    public var isQuiet: Bool
    /// The difference of each policy that changed. No policy occurs twice.
    public var changes: [PolicyDifference]

    /// Creates a step.
    public init(author: PolicyAuthor, isQuiet: Bool = false, changes: [PolicyDifference]) {
        self.author = author
        self.isQuiet = isQuiet
        self.changes = changes
    }
}

/// A policy before and after a change.
public struct PolicyDifference: Hashable, Codable, Sendable {
    /// The policy before the change, or nil if the change added it.
    public var before: ItemPolicy?
    /// The policy after the change, or nil if the change removed it.
    public var after: ItemPolicy?

    /// Creates a difference.
    public init(before: ItemPolicy?, after: ItemPolicy?) {
        self.before = before
        self.after = after
    }

    /// The fields that the change set. Empty if the change added or removed the policy.
    public var fields: [ItemPolicy.Field] {
        guard let before, let after else { return [] }
        return before.fields(differingFrom: after)
    }

    /// Whether the change made no difference.
    public var isNothing: Bool {
        guard let before, let after else { return self.before == nil && self.after == nil }
        return before.fields(differingFrom: after).isEmpty
    }
}

/// An undo or a redo of a step.
public struct PolicyMove: Hashable, Sendable {
    /// The direction of the move. The raw values are stored in the history.
    public enum Direction: String, Hashable, Codable, Sendable {
        case undo, redo
    }

    /// Whether the step is undone or redone.
    public var direction: Direction
    /// The step's id in the history.
    public var step: String
    /// The step behind which the history stands after a redo. Quiet steps that follow the redone step are skipped.
    public var last: String
    /// The author of the undo or redo.
    public var author: PolicyAuthor

    /// Creates an undo or a redo.
    public init(_ direction: Direction, step: String, last: String, author: PolicyAuthor) {
        self.direction = direction
        self.step = step
        self.last = last
        self.author = author
    }
}

/// An entry of the policies' history: a change, or the undo or redo of a change.
public enum PolicyEntry: Hashable, Sendable {
    case step(PolicyStep)
    case move(PolicyMove)
}

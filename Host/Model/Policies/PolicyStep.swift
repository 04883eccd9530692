/// One change of policies, by whomever: a step of their history.
public struct PolicyStep: Hashable, Sendable {
    public var author: PolicyAuthor
    /// It did not set the processors to work, such as when a policy follows its target. Undo and redo pass over it.
    public var isQuiet: Bool
    /// What became of each policy that changed; no policy is in it twice.
    public var changes: [PolicyDifference]

    public init(author: PolicyAuthor, isQuiet: Bool = false, changes: [PolicyDifference]) {
        self.author = author
        self.isQuiet = isQuiet
        self.changes = changes
    }
}

/// A policy before and after a change.
public struct PolicyDifference: Hashable, Sendable {
    /// Nil: it was added.
    public var before: ItemPolicy?
    /// Nil: it was removed.
    public var after: ItemPolicy?

    public init(before: ItemPolicy?, after: ItemPolicy?) {
        self.before = before
        self.after = after
    }

    /// The fields that the change set, if it neither added nor removed the policy.
    public var fields: [ItemPolicy.Field] {
        guard let before, let after else { return [] }
        return before.fields(differingFrom: after)
    }

    public var isNothing: Bool {
        guard let before, let after else { return self.before == nil && self.after == nil }
        return before.fields(differingFrom: after).isEmpty
    }
}

/// A step that is taken back or done again.
public struct PolicyMove: Hashable, Sendable {
    /// Whether the step is taken back or done again. The raw values are the history's.
    public enum Direction: String, Hashable, Sendable {
        case undo, redo
    }

    public var direction: Direction
    /// The id that the step has in the history.
    public var step: String
    /// The step behind which the history stands afterwards, if it is redone: quiet ones that follow it are passed over.
    public var last: String
    public var author: PolicyAuthor

    public init(_ direction: Direction, step: String, last: String, author: PolicyAuthor) {
        self.direction = direction
        self.step = step
        self.last = last
        self.author = author
    }
}

/// What happened to policies: a change, or that one was taken back or done again.
public enum PolicyEntry: Hashable, Sendable {
    case step(PolicyStep)
    case move(PolicyMove)
}

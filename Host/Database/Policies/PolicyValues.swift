public import Model

extension ItemPolicy {
    /// Parses the condition that the policy's items meet.
    /// - Throws: `.badData` if the text is no condition.
    public func parsedCondition() throws(Failure) -> Condition {
        do throws(ConditionError) { return try Condition(parsing: condition) } catch {
            throw error.failure(in: "the policy \(id)")
        }
    }
}

extension Failure {
    static func noPolicy(_ id: PolicyID) -> Failure {
        Failure(.notFound, "there is no policy \(id)", hint: .listPolicies)
    }
}

extension PolicyDifference {
    var reversed: PolicyDifference { PolicyDifference(before: after, after: before) }
}

extension PolicyMove {
    var cannot: String { "the change cannot be \(direction == .undo ? "undone" : "redone")" }
}

extension ItemPolicy {
    /// Applies the changes that a later step made to the policy, for each field that has the value from which the
    /// change was made.
    mutating func follow(_ step: PolicyStep) {
        for change in step.changes {
            guard let before = change.before, let after = change.after, before.id == id else { continue }
            for field in change.fields where bytes(of: field) == before.bytes(of: field) { take(field, from: after) }
        }
    }
}

/// A change of policies that is not yet in their history.
public struct PolicyJournalRow: Hashable, Sendable {
    /// The row's number, which rises from row to row.
    public var number: Int64
    /// The change's id in the history.
    public var id: PolicyChangeID
    /// The change itself.
    public var entry: PolicyEntry
}

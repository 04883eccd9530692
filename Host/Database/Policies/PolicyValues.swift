public import Model

extension ItemPolicy {
    /// The condition that its items meet.
    /// - Throws: `.badData` if the text is none.
    public func parsedCondition() throws(Failure) -> Condition {
        do throws(ConditionError) { return try Condition(parsing: condition) } catch {
            throw error.failure(in: "the policy \(id)")
        }
    }
}

extension Failure {
    static func noPolicy(_ id: PolicyID) -> Failure {
        Failure(.notFound, "there is no policy \(id)", hint: "`larder policy list` shows all")
    }
}

extension PolicyDifference {
    var reversed: PolicyDifference { PolicyDifference(before: after, after: before) }
}

extension PolicyMove {
    var cannot: String { "the change cannot be \(direction == .undo ? "undone" : "redone")" }
}

extension ItemPolicy {
    /// Takes on what a later step changed of it, as far as it was made from what is here.
    mutating func follow(_ step: PolicyStep) {
        for change in step.changes {
            guard let before = change.before, let after = change.after, before.id == id else { continue }
            for field in change.fields where bytes(of: field) == before.bytes(of: field) { take(field, from: after) }
        }
    }
}

/// What happened to policies and is not in their history yet.
public struct PolicyJournalRow: Hashable, Sendable {
    /// Rises from row to row.
    public var number: Int64
    public var id: PolicyChangeID
    public var entry: PolicyEntry
}

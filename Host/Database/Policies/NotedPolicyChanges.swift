import Model

/// The changes that a transaction makes to policies: a step for each author, and a separate step for quiet changes.
struct NotedPolicyChanges {
    private struct Noted {
        var author: PolicyAuthor
        var isQuiet: Bool
        var order: [PolicyID] = []
        var changes: [PolicyID: PolicyDifference] = [:]

        mutating func take(_ change: PolicyDifference, of id: PolicyID) {
            if changes[id] == nil {
                order.append(id)
                changes[id] = change
            } else {
                changes[id]?.after = change.after
            }
        }

        /// Tells whether a change makes the policy another one: a policy that is removed and added again with another
        /// kind.
        func isOther(_ change: PolicyDifference, of id: PolicyID) -> Bool {
            guard let before = changes[id]?.before, let after = change.after else { return false }
            return before.kind != after.kind
        }
    }

    private var noted: [Noted] = []

    mutating func note(_ change: PolicyDifference, by author: PolicyAuthor, isQuiet: Bool) {
        guard let id = (change.after ?? change.before)?.id else { return }
        func isOurs(_ step: Noted) -> Bool { step.author.who == author.who && step.isQuiet == isQuiet }
        // A change of a policy that a later step changed must not be added to an earlier step.
        if let place = noted.lastIndex(where: { isOurs($0) || $0.changes[id] != nil }), isOurs(noted[place]),
            !noted[place].isOther(change, of: id)
        {
            noted[place].take(change, of: id)
        } else {
            var step = Noted(author: author, isQuiet: isQuiet)
            step.take(change, of: id)
            noted.append(step)
        }
    }

    /// The steps, in the order in which they began. Changes that cancel each other are left out.
    var steps: [PolicyStep] {
        noted.compactMap { step in
            let changes = step.order.compactMap { step.changes[$0] }.filter { !$0.isNothing }
            return changes.isEmpty ? nil : PolicyStep(author: step.author, isQuiet: step.isQuiet, changes: changes)
        }
    }
}

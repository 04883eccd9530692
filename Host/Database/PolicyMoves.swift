public import Model

extension Transaction {
    /// Takes a step of the policies' history back, or does it again: all of it or, if it throws, nothing.
    ///
    /// Of a policy that the step changed only the fields that it set are set. The move is a row of the journal.
    /// - Parameters:
    ///   - step: the step that `move` names.
    ///   - later: when it is redone, the quiet steps after it in the history, in order. They were not taken back with it: a
    ///     policy that comes again is as they left it.
    /// - Returns: policies that were to be removed and are gone already.
    /// - Throws: `.badData` if the policies are not as the step, or the way back from it, left them.
    @discardableResult
    public func carryOut(_ move: PolicyMove, of step: PolicyStep, later: [PolicyStep] = []) throws -> [ItemPolicy] {
        var gone: [ItemPolicy] = []
        let changes = move.direction == .undo ? step.changes.reversed().map(\.reversed) : step.changes
        for change in changes {
            switch (change.before, change.after) {
            case (nil, let after?): try addAgain(later.reduce(into: after) { $0.follow($1) }, move)
            case (let before?, nil):
                if let current = try policy(before.id) { try deletePolicy(current) } else { gone.append(before) }
            case (let before?, let after?): try set(change.fields, from: before, to: after, move)
            case (nil, nil): break
            }
        }
        try appendToPolicyJournal(.move(move))
        notePoliciesChanged(runsTrigger: true)
        return gone
    }

    private func addAgain(_ policy: ItemPolicy, _ move: PolicyMove) throws {
        guard try self.policy(policy.id) == nil else {
            throw Failure(
                .badData,
                "\(move.cannot): the policy \(policy.id) would be added again, and there is one with this id by now",
                hint: "`larder policy remove \(policy.id)` takes that one away")
        }
        _ = try insertPolicy(policy)
    }

    private func set(
        _ fields: [ItemPolicy.Field], from before: ItemPolicy, to after: ItemPolicy, _ move: PolicyMove
    ) throws {
        guard let current = try policy(before.id) else {
            throw Failure(
                .badData, "\(move.cannot): the policy \(before.id), which it changed, is gone",
                hint: "`larder policy history` shows what became of it")
        }
        var changed = current
        for field in fields {
            guard current.bytes(of: field) == before.bytes(of: field) else {
                throw Failure(
                    .badData, "\(move.cannot): `\(field.rawValue)` of the policy \(before.id) was changed since",
                    hint: "`larder policy update \(before.id)` changes it as you like; see `larder policy history`")
            }
            changed.take(field, from: after)
        }
        _ = try replacePolicy(current, with: changed)
    }
}

extension PolicyDifference {
    fileprivate var reversed: PolicyDifference { PolicyDifference(before: after, after: before) }
}

extension PolicyMove {
    fileprivate var cannot: String { "the change cannot be \(direction == .undo ? "undone" : "redone")" }
}

extension ItemPolicy {
    /// Takes on what a later step changed of it, as far as it was made from what is here.
    fileprivate mutating func follow(_ step: PolicyStep) {
        for change in step.changes {
            guard let before = change.before, let after = change.after, before.id == id else { continue }
            for field in change.fields where bytes(of: field) == before.bytes(of: field) { take(field, from: after) }
        }
    }
}

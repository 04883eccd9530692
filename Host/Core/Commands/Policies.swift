import Database
public import Model
import Vault
import Warehouse

/// What decides what is kept here.
public enum Policies {
    /// Stores a new policy, and answers with it.
    /// - Throws: `.badData` if a condition does not parse, or if there is a policy of this id or identifier.
    public struct Add: AccountCommand {
        public var policy: ItemPolicy

        public init(_ policy: ItemPolicy) { self.policy = policy }

        public func carryOut(for host: AccountHost) async throws(Failure) -> ItemPolicy {
            try await host.changingPolicies { tx, author in
                for name in [policy.id.text, policy.identifier].compactMap(\.self) {
                    guard let same = try tx.policies.all(named: name).first else { continue }
                    throw Failure(
                        .badData, "there is a policy \(name) already, of the kind \(same.kind)",
                        hint: "`larder policy update \(name)` changes it")
                }
                return try tx.policies.add(policy, by: author)
            }
        }
    }

    /// Changes a policy, and answers with it; what is not named stays.
    /// - Throws: `.notFound` without such a policy, `.badData` if a condition does not parse, or if several have the identifier.
    public struct Update: AccountCommand {
        /// Its id or identifier.
        public var name: String
        public var change: PolicyChange

        public init(named name: String, _ change: PolicyChange) { (self.name, self.change) = (name, change) }

        public func carryOut(for host: AccountHost) async throws(Failure) -> ItemPolicy {
            try await host.changingPolicies { tx, author in
                var policy = try tx.policies.policy(named: name)
                if let condition = change.condition { policy.condition = condition }
                if let text = change.description { policy.description = text.isEmpty ? nil : text }
                if let text = change.removeWhenNone { policy.removeWhenNone = text.isEmpty ? nil : text }
                return try tx.policies.update(policy, by: author)
            }
        }
    }

    /// Takes a policy away, and answers with what it was.
    /// - Throws: `.notFound` without such a policy, `.badData` if several have the identifier.
    public struct Remove: AccountCommand {
        /// Its id or identifier.
        public var name: String

        public init(named name: String) { self.name = name }

        public func carryOut(for host: AccountHost) async throws(Failure) -> ItemPolicy {
            try await host.changingPolicies { tx, author in
                let policy = try tx.policies.policy(named: name)
                try tx.policies.remove(policy.id, by: author)
                return policy
            }
        }
    }

    /// Takes back the last change of policies that is applied, or does the next one again; quiet ones are passed over.
    /// - Throws: `.badData` if there is none, or if the policies were changed since so that it cannot be done; `.localIO` if the
    ///   history cannot be written.
    public struct Move: AccountCommand {
        public var direction: PolicyMove.Direction

        public init(_ direction: PolicyMove.Direction) { self.direction = direction }

        public func carryOut(for host: AccountHost) async throws(Failure) -> PolicyMoveOutcome {
            let author = await host.author()
            while true {
                try await host.history.flush()
                guard let target = try await host.history.next(direction) else {
                    throw Failure(
                        .badData, "there is nothing to \(direction.rawValue)",
                        hint: "`larder policy history` shows what was done")
                }
                let move = PolicyMove(
                    direction, step: target.id.description, last: target.last.description, author: author)
                let gone: [ItemPolicy]? = try await host.failing {
                    try await host.database.write { tx in
                        // Somebody changes policies at this moment: then another step may be the last one.
                        guard try tx.policies.changeCount() == 0 else { return nil }
                        let gone = try tx.policies.carryOut(move, of: target.step, later: target.later)
                        try tx.meta.set(.policiesChanged, 1)
                        return gone
                    }
                }
                guard let gone else { continue }
                await host.writePolicyHistory()
                let step = PolicyHistoryStep(
                    id: target.id.description, step: target.step, isApplied: direction == .redo)
                return PolicyMoveOutcome(step: step, gone: gone)
            }
        }
    }
}

/// What a person changes of a policy; nil leaves it as it is, an empty text takes it away.
public struct PolicyChange: Sendable {
    /// The text of a condition.
    public var condition: String?
    public var description: String?
    /// The text of a condition.
    public var removeWhenNone: String?

    public init(condition: String? = nil, description: String? = nil, removeWhenNone: String? = nil) {
        self.condition = condition
        self.description = description
        self.removeWhenNone = removeWhenNone
    }

    public var isEmpty: Bool { condition == nil && description == nil && removeWhenNone == nil }
}

/// What undoing or redoing came to.
public struct PolicyMoveOutcome: Sendable {
    /// The step that was undone or redone, as the history has it now.
    public var step: PolicyHistoryStep
    /// Policies that were to be removed and were gone already.
    public var gone: [ItemPolicy]
}

extension AccountHost {
    /// The kinds of policies that the plugins which were opened process.
    public func policyKinds() async -> [PolicyKind] {
        await process.pluginReports().flatMap(\.kinds).map(PolicyKind.init)
    }
}

extension PolicyTable {
    /// The one that has the id, else all that have the identifier.
    fileprivate func all(named name: String) throws -> [ItemPolicy] {
        if let policy = try policy(PolicyID(name)) { return [policy] }
        return try all().filter { $0.identifier?.hasSameBytes(as: name) ?? false }
    }

    fileprivate func policy(named name: String) throws -> ItemPolicy {
        let found = try all(named: name)
        guard let policy = found.first else {
            throw Failure(
                .notFound, "there is no policy \(name)", hint: "`larder policy list --internal` shows all")
        }
        guard found.count == 1 else {
            let ids = found.map(\.id.text).joined(separator: ", ")
            throw Failure(.badData, "several policies have the identifier \(name)", hint: "name one by its id: \(ids)")
        }
        return policy
    }
}

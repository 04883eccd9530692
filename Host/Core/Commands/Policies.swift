import Database
public import Model
import Vault
import Warehouse

/// Commands about policies, which decide what is kept here.
public enum Policies {
    /// Stores a new policy.
    /// - Throws: `.badData` if a condition does not parse, or if a policy has this id or identifier already.
    public struct Add: AccountCommand {
        public static let name = "policy-add"

        /// The policy.
        public var policy: ItemPolicy

        /// Creates the command.
        public init(_ policy: ItemPolicy) { self.policy = policy }

        public func carryOut(for host: AccountHost) async throws(Failure) -> PolicyAddOutcome {
            let stored = try await host.changingPolicies { tx, author in
                for name in [policy.id.text, policy.identifier].compactMap(\.self) {
                    guard let same = try tx.policies.all(named: name).first else { continue }
                    throw Failure(
                        .badData, "there is a policy \(name) already, of the kind \(same.kind)",
                        hint: .updatePolicy(named: name))
                }
                return try tx.policies.add(policy, by: author)
            }
            let kinds = await host.process.pluginReports().flatMap(\.kinds).map(PolicyKind.init)
            return PolicyAddOutcome(policy: stored, kinds: kinds)
        }
    }

    /// Changes the named properties of a policy and leaves the others as they are. The answer is the changed policy.
    /// - Throws: `.notFound` if there is no such policy, `.badData` if a condition does not parse or if several
    ///   policies have the identifier.
    public struct Update: AccountCommand {
        public static let name = "policy-update"

        /// The policy's id or identifier.
        public var name: String
        /// The properties to change.
        public var change: PolicyChange

        /// Creates the command.
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

    /// Removes a policy. The answer is the removed policy.
    /// - Throws: `.notFound` if there is no such policy, `.badData` if several policies have the identifier.
    public struct Remove: AccountCommand {
        public static let name = "policy-remove"

        /// The policy's id or identifier.
        public var name: String

        /// Creates the command.
        public init(named name: String) { self.name = name }

        public func carryOut(for host: AccountHost) async throws(Failure) -> ItemPolicy {
            try await host.changingPolicies { tx, author in
                let policy = try tx.policies.policy(named: name)
                try tx.policies.remove(policy.id, by: author)
                return policy
            }
        }
    }

    /// Undoes the last applied change of policies, or redoes the next undone change. Quiet changes are skipped.
    /// - Throws: `.badData` if there is no such change, or if a later change of the policies makes the command
    ///   impossible; `.localIO` if the history cannot be written.
    public struct Move: AccountCommand {
        public static let name = "policy-move"

        /// Whether to undo or to redo.
        public var direction: PolicyMove.Direction

        /// Creates the command.
        public init(_ direction: PolicyMove.Direction) { self.direction = direction }

        public func carryOut(for host: AccountHost) async throws(Failure) -> PolicyMoveOutcome {
            let author = await host.author()
            while true {
                try await host.history.flush()
                guard let target = try await host.history.next(direction) else {
                    throw Failure(
                        .badData, "there is nothing to \(direction.rawValue)",
                        hint: .seePolicyHistory)
                }
                let move = PolicyMove(
                    direction, step: target.id.description, last: target.last.description, author: author)
                let gone: [ItemPolicy]? = try await host.failing {
                    try await host.database.write { tx in
                        // Another task has changed policies since the history was written, so another step may be the
                        // last.
                        guard try tx.policies.changeCount() == 0 else { return nil }
                        let gone = try tx.policies.carryOut(move, of: target.step, later: target.later)
                        if host.work.isIdle { try tx.meta.set(.policiesChanged, 1) }
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

extension Policies {
    /// Runs the processors for a trigger that checks all items, and waits until what needs no server is done: copies are
    /// removed, and so is what earlier runs left to be removed. Downloads are left to the account's work.
    ///
    /// Errors of single pieces of work are in the answer. The answer's `leftCount` is the amount of work that waits.
    /// - Throws: An error that keeps the work from being done at all: the database's `Failure` or the local tree's.
    public struct Run: AccountCommand {
        public static let name = "policy-run"

        /// The trigger.
        public var trigger: Trigger

        /// Creates the command.
        public init(_ trigger: Trigger) { self.trigger = trigger }

        public func carryOut(for host: AccountHost) async throws(Failure) -> RunOutcome {
            try await host.failing {
                try await host.work.turn {
                    try await host.runPoliciesAlone(trigger)
                } atWork: {
                    try await host.runPoliciesAtWork(trigger)
                }
            }
        }
    }
}

/// The properties of a policy that a person changes. Nil leaves a property as it is; an empty text removes it.
public struct PolicyChange: Codable, Sendable {
    /// The text of the new condition.
    public var condition: String?
    /// The new description.
    public var description: String?
    /// The text of the new condition for the policy's automatic removal.
    public var removeWhenNone: String?

    private enum CodingKeys: String, CodingKey {
        case condition = "where"
        case description, removeWhenNone
    }

    /// Creates a change of the given properties.
    public init(condition: String? = nil, description: String? = nil, removeWhenNone: String? = nil) {
        self.condition = condition
        self.description = description
        self.removeWhenNone = removeWhenNone
    }

    /// Whether the change leaves all properties as they are.
    public var isEmpty: Bool { condition == nil && description == nil && removeWhenNone == nil }
}

/// The outcome of adding a policy.
public struct PolicyAddOutcome: Codable, Sendable {
    /// The stored policy.
    public var policy: ItemPolicy
    /// The kinds of policies that the opened plugins process.
    public var kinds: [PolicyKind]
}

/// The outcome of undoing or redoing.
public struct PolicyMoveOutcome: Codable, Sendable {
    /// The step that was undone or redone, as it stands in the history now.
    public var step: PolicyHistoryStep
    /// The policies that were to be removed but were gone already.
    public var gone: [ItemPolicy]
}

extension PolicyTable {
    /// Returns the policy with this id, or else all policies with this identifier.
    fileprivate func all(named name: String) throws -> [ItemPolicy] {
        if let policy = try policy(PolicyID(name)) { return [policy] }
        return try all().filter { $0.identifier?.hasSameBytes(as: name) ?? false }
    }

    fileprivate func policy(named name: String) throws -> ItemPolicy {
        let found = try all(named: name)
        guard let policy = found.first else {
            throw Failure(
                .notFound, "there is no policy \(name)", hint: .listInternalPolicies)
        }
        guard found.count == 1 else {
            let ids = found.map(\.id.text).joined(separator: ", ")
            throw Failure(.badData, "several policies have the identifier \(name)", hint: "name one by its id: \(ids)")
        }
        return policy
    }
}

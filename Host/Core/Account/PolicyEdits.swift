import Database
public import Model
import Vault

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

extension AccountHost {
    /// Stores a new policy.
    /// - Throws: `.badData` if a condition does not parse, or if there is a policy of this id or identifier.
    public func addPolicy(_ policy: ItemPolicy) async throws(Failure) -> ItemPolicy {
        try await changingPolicies { tx, author in
            for name in [policy.id.text, policy.identifier].compactMap(\.self) {
                guard let same = try tx.policies.all(named: name).first else { continue }
                throw Failure(
                    .badData, "there is a policy \(name) already, of the kind \(same.kind)",
                    hint: "`larder policy update \(name)` changes it")
            }
            return try tx.policies.add(policy, by: author)
        }
    }

    /// Changes a policy; what is not named stays.
    /// - Parameter name: its id or identifier.
    /// - Throws: `.notFound` without such a policy, `.badData` if a condition does not parse, or if several have the identifier.
    public func updatePolicy(named name: String, _ change: PolicyChange) async throws(Failure) -> ItemPolicy {
        try await changingPolicies { tx, author in
            var policy = try tx.policies.policy(named: name)
            if let condition = change.condition { policy.condition = condition }
            if let text = change.description { policy.description = text.isEmpty ? nil : text }
            if let text = change.removeWhenNone { policy.removeWhenNone = text.isEmpty ? nil : text }
            return try tx.policies.update(policy, by: author)
        }
    }

    /// Takes a policy away.
    /// - Parameter name: its id or identifier.
    /// - Returns: what it was.
    /// - Throws: `.notFound` without such a policy, `.badData` if several have the identifier.
    public func removePolicy(named name: String) async throws(Failure) -> ItemPolicy {
        try await changingPolicies { tx, author in
            let policy = try tx.policies.policy(named: name)
            try tx.policies.remove(policy.id, by: author)
            return policy
        }
    }

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

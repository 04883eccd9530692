public import Model

/// The available-offline policies, prepared for decisions about one copy after the other.
public struct KeptItems: Sendable {
    private let policies: [(policy: ItemPolicy, condition: Condition)]
    private let any: ConditionMatcher
    /// The policies that follow an item when it moves, by the item's id.
    private let followers: [LocalID: [Int]]

    /// Reads the policies.
    /// - Throws: `.badData` if a policy's condition does not parse.
    public init(_ reads: some DatabaseReads) throws {
        policies = try reads.policies.all(kind: .availableOffline).map { ($0, try $0.parsedCondition()) }
        any = ConditionMatcher(.anyOf(policies.map(\.condition)))
        var followers: [LocalID: [Int]] = [:]
        for (index, one) in policies.enumerated() {
            guard let localID = one.policy.localID, let path = one.policy.path,
                one.policy.condition.hasSameBytes(as: Condition.at(orBelow: path).text)
            else { continue }
            followers[localID, default: []].append(index)
        }
        self.followers = followers
    }

    /// Returns the policy that keeps an item here. The policy of a moved folder keeps the folder's present contents,
    /// even while the policy still has the old path.
    /// - Parameter now: The time that `now` in a condition stands for.
    public func policy(for item: Item, now: Timestamp, _ reads: some DatabaseReads) throws -> ItemPolicy? {
        guard !policies.isEmpty else { return nil }
        if any.matches(item, now: now), let found = policies.first(where: { $0.condition.matches(item, now: now) }) {
            return found.policy
        }
        guard !followers.isEmpty else { return nil }
        var place = item.path
        while !place.isRoot {
            let target = place == item.path ? item.localID : try reads.items.item(at: place)?.localID
            for index in target.flatMap({ followers[$0] }) ?? [] where policies[index].policy.path != place {
                return policies[index].policy
            }
            place = place.parent
        }
        return nil
    }
}

extension PolicyTable where Access == Transaction {
    /// Returns the policy that keeps an item's copy here, by the policies of this transaction; nil if there is none.
    /// - Parameter now: The time that `now` in a condition stands for.
    /// - Throws: The errors of ``KeptItems/init(_:)``.
    public func keeping(_ item: Item, now: Timestamp) throws -> ItemPolicy? {
        let known = try access.kept ?? KeptItems(access)
        access.kept = known
        return try known.policy(for: item, now: now, access)
    }
}

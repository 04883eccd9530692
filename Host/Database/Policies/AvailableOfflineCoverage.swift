public import Model

/// The available-offline policies, prepared to tell whether items are pinned: by themselves, by a folder above, or not
/// at all (P32). The cost for an item does not grow with the number of policies.
public struct AvailableOfflineCoverage: Sendable {
    private let any: ConditionMatcher
    /// The conditions of policies, by the path that each policy is for.
    private let byPath: [ItemPath: [Condition]]
    private let byLocalID: [LocalID: [Condition]]
    private let now: Timestamp
    /// Whether the levels of items may change by time alone.
    public let dependsOnTime: Bool
    /// The revisions of the policies. While they stay, and no time passes, all levels stay.
    public let revisions: [PolicyID: Int64]

    /// Reads the policies.
    /// - Throws: `.badData` if a policy's condition does not parse.
    public init(_ reads: some DatabaseReads, now: Timestamp) throws {
        var (conditions, byPath, byLocalID) = ([Condition](), [ItemPath: [Condition]](), [LocalID: [Condition]]())
        var revisions: [PolicyID: Int64] = [:]
        for policy in try reads.policies.all(kind: .availableOffline) {
            revisions[policy.id] = policy.revision
            let condition = try policy.parsedCondition()
            conditions.append(condition)
            if let path = policy.path { byPath[path, default: []].append(condition) }
            if let localID = policy.localID { byLocalID[localID, default: []].append(condition) }
        }
        any = ConditionMatcher(.anyOf(conditions))
        dependsOnTime = conditions.contains(where: \.dependsOnTime)
        self.revisions = revisions
        self.byPath = byPath
        self.byLocalID = byLocalID
        self.now = now
    }

    /// Tells whether policies keep an item here: by itself, by a folder above, or not at all.
    public func of(_ item: Item) -> AvailableOfflineLevel {
        guard any.matches(item, now: now) else { return .none }
        let own = (byPath[item.path] ?? []) + (byLocalID[item.localID] ?? [])
        return own.contains { $0.matches(item, now: now) } ? .direct : .indirect
    }
}

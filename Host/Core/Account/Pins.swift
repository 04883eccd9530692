import Database
import ItemList
public import Model
import Vault

/// What pinning came to.
public struct PinOutcome: Sendable {
    public var policy: ItemPolicy
    /// Policies that say nothing more beside the new one: it covers all that they cover.
    public var redundant: [ItemPolicy]
}

extension Transaction {
    /// Makes an item available offline: adds a policy for it.
    ///
    /// Before the account was ever scanned any path is accepted; afterwards it must be known.
    /// - Throws: `.badData` if policies cover the item already, `.notFound` if nothing is known at the path.
    func pin(_ path: ItemPath, by author: PolicyAuthor) throws -> PinOutcome {
        let item = try items.item(at: path)
        if item == nil, !path.isRoot, try meta.integer(.lastScan) != nil {
            throw Failure(.notFound, "\(path) is not known", hint: "See `larder ls \(path.parent)`")
        }
        let policies = try self.policies.all(kind: .availableOffline, includesInternal: false)
        let covering = try policies.filter { policy in
            if let item { return try Condition(parsing: policy.condition).matches(item, now: author.time) }
            return policy.path.map { $0 == path || $0.isAncestor(of: path) } ?? false
        }
        guard covering.isEmpty else {
            let names = covering.map { "\($0.path?.text ?? $0.condition) (\($0.id))" }.joined(separator: ", ")
            let word = covering.count == 1 ? "policy" : "policies"
            throw Failure(
                .badData, "\(path) is available offline already, by the \(word) \(names)",
                hint: "Nothing needs to be done; `larder policy list --path \(path)` shows what covers it")
        }
        let redundant = policies.filter { $0.path.map { path.isAncestor(of: $0) } ?? false }
        var policy = ItemPolicy(kind: .availableOffline, condition: Self.condition(of: path, item), path: path)
        policy.localID = item?.localID
        if let localID = item?.localID { policy.removeWhenNone = "!removed && localID == \"\(localID)\"" }
        let stored = try self.policies.add(policy, by: author)
        return PinOutcome(policy: stored, redundant: redundant)
    }

    /// A known file is followed by its id wherever it goes. A folder, and what is not known yet, is its path and all below.
    private static func condition(of path: ItemPath, _ item: Item?) -> String {
        if let item, item.kind == .file { return Condition.property(.localID, equals: item.localID.text).text }
        return Condition.at(orBelow: path).text
    }

    /// Ends what pinning the item began.
    /// - Returns: the policies that were removed.
    /// - Throws: `.badData` if the item is covered by a policy for something else, `.notFound` if no policy covers it.
    func unpin(_ path: ItemPath, by author: PolicyAuthor) throws -> [ItemPolicy] {
        let item = try items.item(at: path)
        let policies = try self.policies.all(kind: .availableOffline, includesInternal: false)
        let own = policies.filter { policy in
            policy.path == path || (item != nil && policy.localID == item?.localID)
        }
        guard own.isEmpty else {
            for policy in own { try self.policies.remove(policy.id, by: author) }
            return own
        }
        let covering = try policies.filter { policy in
            try item.map { try Condition(parsing: policy.condition).matches($0, now: author.time) } ?? false
        }
        guard let first = covering.first else {
            throw Failure(.notFound, "\(path) is not pinned", hint: "See `larder policy list`")
        }
        throw Failure(
            .badData, "\(path) is available offline by the policy \(first.path?.text ?? first.condition) (\(first.id))",
            hint: first.path.map { "`larder unpin \($0)` ends that for all that it covers" })
    }
}

extension MetaKey {
    /// Set while processors have still to be told that policies changed: by a command that ran without a host.
    static let policiesChanged = MetaKey("policiesChanged")
}

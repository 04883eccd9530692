import Database
import ItemList
public import Model
import Vault

/// What a person keeps here.
public enum Pins {
    /// What pinning came to.
    public struct Outcome: Sendable {
        public var policy: ItemPolicy
        /// Policies that say nothing more beside the new one: it covers all that they cover.
        public var redundant: [ItemPolicy]
    }

    /// Makes an item available offline: adds a policy for it.
    ///
    /// Before the account was ever scanned any path is accepted; afterwards it must be known.
    /// - Throws: `.badData` if policies cover the item already, `.notFound` if nothing is known at the path.
    public struct Add: AccountCommand {
        public var path: ItemPath

        public init(_ path: ItemPath) { self.path = path }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Outcome {
            try await host.changingPolicies(pin)
        }

        private func pin(_ tx: Transaction, by author: PolicyAuthor) throws -> Outcome {
            let item = try tx.items.item(at: path)
            if item == nil, !path.isRoot, try tx.meta.integer(.lastScan) != nil {
                throw Failure(.notFound, "\(path) is not known", hint: "See `larder ls \(path.parent)`")
            }
            let policies = try tx.policies.all(kind: .availableOffline, includesInternal: false)
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
            let stored = try tx.policies.add(policy, by: author)
            return Outcome(policy: stored, redundant: redundant)
        }

        /// A known file is followed by its id wherever it goes. A folder, and what is not known yet, is its path and all below.
        private static func condition(of path: ItemPath, _ item: Item?) -> String {
            if let item, item.kind == .file { return Condition.property(.localID, equals: item.localID.text).text }
            return Condition.at(orBelow: path).text
        }
    }

    /// Ends what pinning the item began; answers with the policies that were removed.
    /// - Throws: `.badData` if the item is covered by a policy for something else, `.notFound` if no policy covers it.
    public struct Remove: AccountCommand {
        public var path: ItemPath

        public init(_ path: ItemPath) { self.path = path }

        public func carryOut(for host: AccountHost) async throws(Failure) -> [ItemPolicy] {
            try await host.changingPolicies(unpin)
        }

        private func unpin(_ tx: Transaction, by author: PolicyAuthor) throws -> [ItemPolicy] {
            let item = try tx.items.item(at: path)
            let policies = try tx.policies.all(kind: .availableOffline, includesInternal: false)
            let own = policies.filter { policy in
                policy.path == path || (item != nil && policy.localID == item?.localID)
            }
            guard own.isEmpty else {
                for policy in own { try tx.policies.remove(policy.id, by: author) }
                return own
            }
            let covering = try policies.filter { policy in
                try item.map { try Condition(parsing: policy.condition).matches($0, now: author.time) } ?? false
            }
            guard let first = covering.first else {
                throw Failure(.notFound, "\(path) is not pinned", hint: "See `larder policy list`")
            }
            throw Failure(
                .badData,
                "\(path) is available offline by the policy \(first.path?.text ?? first.condition) (\(first.id))",
                hint: first.path.map { "`larder unpin \($0)` ends that for all that it covers" })
        }
    }
}

extension MetaKey {
    /// Set while processors have still to be told that policies changed: by a command that ran without a host.
    static let policiesChanged = MetaKey("policiesChanged")
}

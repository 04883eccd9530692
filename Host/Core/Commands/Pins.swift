import Database
import ItemList
public import Model
import Vault

/// Commands of a person about items to keep available offline.
public enum Pins {
    /// The outcome of pinning.
    public struct Outcome: Codable, Sendable {
        /// The new policy.
        public var policy: ItemPolicy
        /// The policies that are redundant now, because the new policy covers everything that they cover.
        public var redundant: [ItemPolicy]
    }

    /// Makes an item available offline by adding a policy for it.
    ///
    /// Before the account's first scan the command accepts any path. Afterwards the path must be known.
    /// - Throws: `.badData` if policies cover the item already, `.notFound` if no item is known at the path.
    public struct Add: AccountCommand {
        public static let name = "pin"

        /// The path of the item.
        public var path: ItemPath

        /// Creates the command.
        public init(_ path: ItemPath) { self.path = path }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Outcome {
            try await host.changingPolicies(pin)
        }

        private func pin(_ tx: Transaction, by author: PolicyAuthor) throws -> Outcome {
            let item = try tx.items.item(at: path)
            if item == nil, !path.isRoot, try tx.meta.integer(.lastScan) != nil {
                throw Failure(.notFound, "\(path) is not known", hint: .seeItems(in: path.parent))
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
                    hint: .seePoliciesCovering(path))
            }
            let redundant = policies.filter { $0.path.map { path.isAncestor(of: $0) } ?? false }
            var policy = ItemPolicy(kind: .availableOffline, condition: Self.condition(of: path, item), path: path)
            policy.localID = item?.localID
            if let localID = item?.localID { policy.removeWhenNone = "!removed && localID == \"\(localID)\"" }
            let stored = try tx.policies.add(policy, by: author)
            return Outcome(policy: stored, redundant: redundant)
        }

        /// Returns the condition of the new policy. A known file's condition names its id and thus follows the file
        /// wherever it moves. The condition of a folder or of an unknown path covers the path and everything below it.
        private static func condition(of path: ItemPath, _ item: Item?) -> String {
            if let item, item.kind == .file { return Condition.property(.localID, equals: item.localID.text).text }
            return Condition.at(orBelow: path).text
        }
    }

    /// Removes the policies that pinning the item added. The answer is the removed policies.
    /// - Throws: `.badData` if the item is covered by a policy for something else, `.notFound` if no policy covers the
    ///   item.
    public struct Remove: AccountCommand {
        public static let name = "unpin"

        /// The path of the item.
        public var path: ItemPath

        /// Creates the command.
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
                throw Failure(.notFound, "\(path) is not pinned", hint: .seePolicies)
            }
            throw Failure(
                .badData,
                "\(path) is available offline by the policy \(first.path?.text ?? first.condition) (\(first.id))",
                hint: first.path.map { .unpin($0) })
        }
    }
}

extension MetaKey {
    /// Set by a command that ran without a host, until the processors are told that policies changed.
    static let policiesChanged = MetaKey("policiesChanged")
}

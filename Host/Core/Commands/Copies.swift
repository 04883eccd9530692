import Database
import LocalTree
public import Model
import SyncEngine
import Threads
import Vault

/// Commands of a person about local copies.
public enum Copies {
    /// Removes the copy of a file, or all copies below a folder, unless something needs them here. The command sends
    /// the server no request.
    /// - Throws: `.notFound` if no item is known at the path, `.badData` if the item is pinned.
    public struct Free: AccountCommand {
        public static let name = "free"

        /// The path of the file or folder.
        public var path: ItemPath

        /// Creates the command.
        public init(_ path: ItemPath) { self.path = path }

        public func carryOut(for host: AccountHost) async throws(Failure) -> FreeOutcome {
            try await host.failing {
                try await host.work.turn {
                    try await host.recover()
                    return try await free(for: host) { try await host.engine.drain(only: $0, with: host.partners) }
                } atWork: {
                    try await free(for: host) { try await host.engine.wait(for: $0) }
                }
            }
        }

        /// - Parameter complete: Has the sync engine do what it can about the records.
        private func free(
            for host: AccountHost, complete: (Set<SyncRecordID>) async throws -> DrainOutcome
        ) async throws -> FreeOutcome {
            let now = host.clock.agesTo()
            let plan = try await host.database.read { try FreePlan($0, path, now: now) }
            var outcome = FreeOutcome()
            for (policy, kept) in plan.kept {
                let what =
                    kept.count == 1 ? kept.first.text : "\(kept.count) files below \(path), such as \(kept.first),"
                outcome.failures.append(.pinned(what, by: policy))
            }
            var records: Set<SyncRecordID> = []
            var waited: [Item] = []
            for batch in plan.items.batches(of: 1_000) {
                let outcomes = try await host.database.write { [engine = host.engine] tx in
                    try batch.map { item in
                        let request = ActionRequest(
                            .removeLocalCopy(restoringFormerTrigger: false), item: item.localID, reason: .user)
                        return try engine.enqueue(.action(request), in: tx)
                    }
                }
                for (item, result) in zip(batch, outcomes) {
                    switch result {
                    case .queued(let id), .joined(let id), .waits(let id, _):
                        records.insert(id)
                        waited.append(item)
                    case .done: if item.kind == .file { outcome.freed.append(item.path) }
                    case .refused(let failure): outcome.failures.append(failure)
                    }
                }
            }
            let drained = try await complete(records)
            if let failure = drained.failure { outcome.failures.append(failure) }
            for batch in waited.batches(of: 1_000) {
                let left = try await host.database.write { [engine = host.engine] tx in
                    try batch.map { item in
                        try tx.items.item(localID: item.localID).flatMap { try engine.reasonToStay($0, in: tx) }
                    }
                }
                for (item, why) in zip(batch, left) {
                    if let why {
                        outcome.failures.append(Failure(.failed, "\(item.path) \(why) and stays"))
                    } else {
                        outcome.freed.append(item.path)
                    }
                }
            }
            return outcome
        }
    }

    /// Notes that a person's file is a copy of a local copy's content. A file that is uploaded from there later replaces
    /// the version that it was copied from. Without a local copy of this content, nothing is noted.
    public struct NoteExport: AccountCommand {
        public static let name = "export"

        /// The path of the item.
        public var path: ItemPath
        /// The person's file, as an absolute path without symbolic links.
        public var file: String
        /// The SHA-256 of what was copied.
        public var digest: [UInt8]

        /// Creates the command.
        public init(_ path: ItemPath, to file: String, digest: [UInt8]) {
            (self.path, self.file, self.digest) = (path, file, digest)
        }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Done {
            try await host.failing {
                try await host.database.write { [clock = host.clock] tx in
                    guard let item = try tx.items.item(at: path), item.cloudStatus == .localCopy, let copy = item.copy,
                        copy.digest == digest
                    else { return Done() }
                    try tx.exports.note(file, isCopyOf: item, copy.etag, at: clock.now())
                    try tx.exports.forgetOldest()
                    return Done()
                }
            }
        }
    }

    /// Marks a file, or all copies below a folder, as used now. The answer is the number of files marked.
    /// - Throws: `.notFound` if no item is known at the path.
    public struct NoteUse: AccountCommand {
        public static let name = "use"

        /// The path of the file or folder.
        public var path: ItemPath

        /// Creates the command.
        public init(_ path: ItemPath) { self.path = path }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Int {
            let now = host.clock.now()
            return try await host.failing {
                try await host.database.write { tx in
                    guard try path.isRoot || tx.items.item(at: path) != nil else { throw Failure.noItem(path) }
                    return try tx.items.noteUse(at: path, now)
                }
            }
        }
    }
}

/// The outcome of freeing copies.
public struct FreeOutcome: Codable, Sendable {
    /// The files whose copies are gone.
    public var freed: [ItemPath] = []
    /// The copies that stay, with the reason: `.badData` for copies that policies keep, `.failed` for copies that are
    /// changed, in use or claimed.
    public var failures: [Failure] = []
}

/// The copies at and below a path that are to be freed, and those that are not.
private struct FreePlan: Sendable {
    /// The items to free, the deepest first, so that a folder is empty when its turn comes.
    var items: [Item] = []
    /// The items that policies keep.
    var kept: [(policy: ItemPolicy, items: (count: Int, first: ItemPath))] = []

    init(_ reads: ReadTransaction, _ path: ItemPath, now: Timestamp) throws {
        let policies = try reads.policies.all(kind: .availableOffline).map { ($0, try $0.parsedCondition()) }
        if let item = try reads.items.item(at: path) {
            if let (policy, _) = policies.first(where: { $0.1.matches(item, now: now) }) {
                throw Failure.pinned(path.text, by: policy)
            }
            if item.cloudStatus != .cloudOnly, !path.isRoot { items.append(item) }
        } else if !path.isRoot {
            throw Failure.noItem(path)
        }
        var listing = ItemListing(folder: path, isRecursive: true)
        listing.leavesOut = .cloudOnly
        try reads.items.each(listing) { item in
            if item.kind == .folder, item.cloudStatus == .localOnly { return true }
            guard let index = policies.firstIndex(where: { $0.1.matches(item, now: now) }) else {
                items.append(item)
                return true
            }
            guard item.kind == .file else { return true }
            if let known = kept.firstIndex(where: { $0.policy.id == policies[index].0.id }) {
                kept[known].items.count += 1
            } else {
                kept.append((policies[index].0, (1, item.path)))
            }
            return true
        }
        items.reverse()
    }
}

extension Failure {
    fileprivate static func pinned(_ what: String, by policy: ItemPolicy) -> Failure {
        Failure(
            .badData, "the policy \(policy.path?.text ?? policy.condition) (\(policy.id)) keeps \(what) here",
            hint: policy.path.map { .unpin($0) } ?? .showPolicy)
    }
}

extension Array {
    /// Returns the elements in order, in batches of at most `count`.
    func batches(of count: Int) -> [ArraySlice<Element>] {
        stride(from: 0, to: self.count, by: count).map { self[$0..<Swift.min($0 + count, self.count)] }
    }
}

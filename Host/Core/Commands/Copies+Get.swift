import Connection
import Database
import ItemList
import LocalTree
public import Model
import SyncEngine
import Threads
import Vault

extension Copies {
    /// Fetches a file, or everything below a folder, for a person. A file whose copy is the newest known version costs
    /// no request.
    /// - Throws: `.notFound` if no item has the path; if the item is not known, also the errors of the requests that
    ///   search the server for it.
    public struct Get: AccountCommand {
        public static let name = "get"

        /// The path of the file or folder.
        public var path: ItemPath
        /// Whether the command fetches the files itself. Otherwise the next run fetches them.
        public var waits: Bool
        /// Creates the command.
        public init(_ path: ItemPath, waits: Bool) { (self.path, self.waits) = (path, waits) }

        public func carryOut(for host: AccountHost) async throws(Failure) -> GetOutcome {
            try await host.failing {
                try await host.work.turn {
                    try await host.recover()
                    return try await fetch(for: host, isAtWork: false)
                } atWork: {
                    try await fetch(for: host, isAtWork: true)
                }
            }
        }

        /// - Parameter isAtWork: Whether a run is in progress, which then lists and fetches.
        private func fetch(for host: AccountHost, isAtWork: Bool) async throws -> GetOutcome {
            var outcome = GetOutcome()
            var isOnline = false
            if waits { isOnline = try await listFirst(&outcome, host, isAtWork) }
            let records = try await ask(&outcome, host)
            outcome.waiting = records.count
            guard waits, !records.isEmpty else { return outcome }
            if !isOnline {
                do throws(Failure) { try await host.reachServer(isAtWork: isAtWork) } catch {
                    outcome.failures.append(error)
                }
            }
            // A run that the server has just rejected takes a moment to stop the engine.
            guard outcome.failures.isEmpty || host.session.isOnline else {
                for index in outcome.failures.indices {
                    outcome.failures[index].addHint(isAtWork ? .staysQueued : .runQueued)
                }
                return outcome
            }
            let drained =
                isAtWork
                ? try await host.engine.wait(for: records)
                : try await host.engine.drain(only: records, with: host.partners)
            outcome.waiting = drained.leftCount
            if isAtWork, drained.leftCount > 0, drained.isOffline || drained.failure != nil {
                var failure = drained.failure ?? host.session.failure
                failure.addHint(.staysQueued)
                outcome.failures.append(failure)
            } else if let failure = drained.failure {
                outcome.failures.append(failure)
            }
            guard drained.failure == nil, !drained.isOffline else { return outcome }
            for left in drained.left {
                if let id = left.issue, let issue = try await host.database.read({ try $0.issues.issue(id: id) }) {
                    outcome.issues.append(issue)
                } else {
                    outcome.failures.append(Failure(left.failure.ofOneItem, "\(left.path): \(left.why)"))
                }
            }
            return outcome
        }

        /// Lists on the server the folders that are not known: the folders on the way to an item, and everything below
        /// if the item is a folder.
        /// - Returns: Whether the command sent the server a request.
        private func listFirst(
            _ outcome: inout GetOutcome, _ host: AccountHost, _ isAtWork: Bool
        ) async throws -> Bool {
            let known = try await host.database.read { try $0.items.item(at: path) }
            if known?.kind == .file { return false }
            let facts: ServerFacts?
            do throws(Failure) { facts = try await host.reachServer(isAtWork: isAtWork) } catch {
                guard known != nil else { throw error }
                // The known items below can still be requested.
                outcome.failures.append(error)
                return true
            }
            if known == nil { try await findFolders(host) }
            let found = try await host.database.read { try $0.items.item(at: path) }
            guard path.isRoot || found?.kind == .folder else { return true }
            guard let facts else {
                let polled = try await host.poll(walks: true)
                outcome.failures += polled.unreached.map { [$0] } ?? polled.failures
                return true
            }
            let mode = facts.isOwnCloudFamily ? try await host.nextMode(facts) : .whole
            let scan = try await host.scan(facts, mode, root: facts.rootItem)
            outcome.failures += scan.failures
            return true
        }

        /// Lists the unknown folders on the way to an item, and the folder that holds the item.
        private func findFolders(_ host: AccountHost) async throws {
            let isFamily = host.connection.known?.isOwnCloudFamily ?? false
            let history = try await host.database.read { try $0.scanHistory() }
            var way: [ItemPath] = []
            var folder = path
            while !folder.isRoot {
                folder = folder.parent
                way.append(folder)
                if try await host.database.read({ [folder] in try $0.items.item(at: folder) }) != nil { break }
            }
            for folder in way.reversed() {
                let known = try await host.database.read { try $0.items.item(at: folder) }
                guard folder.isRoot || known?.kind == .folder else { return }
                if let error = try await host.list.listAgain(
                    folder, etagsNameWrites: isFamily && !history.etagsWereWrong)
                {
                    throw error
                }
            }
        }

        /// Puts the downloads of an item, and of everything below it, into the journal.
        /// - Returns: The records that may go on now.
        private func ask(_ outcome: inout GetOutcome, _ host: AccountHost) async throws -> Set<SyncRecordID> {
            let items = try await host.database.read { reads in
                var items: [(id: LocalID, path: ItemPath, kind: Item.Kind)] = []
                if let item = try reads.items.item(at: path) {
                    if !path.isRoot { items.append((item.localID, item.path, item.kind)) }
                    if item.kind == .file { return items }
                } else if !path.isRoot {
                    throw Failure.noItem(path)
                }
                var listing = ItemListing(folder: path, isRecursive: true)
                // An item that exists only here has nothing to fetch.
                listing.leavesOut = .localOnly
                try reads.items.each(listing) { item in
                    items.append((item.localID, item.path, item.kind))
                    return true
                }
                return items
            }
            var records: Set<SyncRecordID> = []
            for batch in items.batches(of: 1_000) {
                let (outcomes, issues) = try await host.database.write { [engine = host.engine] tx in
                    let outcomes = try batch.map {
                        try engine.enqueue(.action(ActionRequest(.download, item: $0.id, reason: .user)), in: tx)
                    }
                    let issues = try outcomes.map { outcome -> Issue? in
                        switch outcome {
                        case .joined(let id): try engine.hurry(id, in: tx)
                        case .waits(_, let issue): try tx.issues.issue(id: issue)
                        case .queued, .done, .refused: nil
                        }
                    }
                    return (outcomes, issues)
                }
                for ((item, result), issue) in zip(zip(batch, outcomes), issues) {
                    if item.kind == .file { outcome.files.append(item.path) }
                    if let issue {
                        outcome.issues.append(issue)
                        continue
                    }
                    switch result {
                    case .queued(let id), .joined(let id): records.insert(id)
                    case .refused(let failure): outcome.failures.append(failure)
                    case .done, .waits: break
                    }
                }
            }
            return records
        }
    }
}

/// The outcome of a person's download.
public struct GetOutcome: Codable, Sendable {
    /// The requested files. Each has its copy now unless the file is still waiting, or a failure or an issue names it.
    public var files: [ItemPath] = []
    /// The number of downloads that are still to be done.
    public var waiting = 0
    /// The errors.
    public var failures: [Failure] = []
    /// The issues that a person must decide first.
    public var issues: [Issue] = []
}

extension Advice {
    fileprivate static let staysQueued = Advice.text(
        "What is queued stays queued, and the running host fetches it later")
}

extension Failure {
    fileprivate mutating func addHint(_ more: Advice) { hint = hint.map { .both($0, more) } ?? more }
}

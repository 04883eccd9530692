import Connection
import Database
import ItemList
import LocalTree
public import Model
import SyncEngine
import Threads
import Vault

/// What a person's download came to.
public struct GetOutcome: Sendable {
    /// The files that were asked for, which are here now unless a failure names them.
    public var files: [ItemPath] = []
    /// How many of them are still to be fetched.
    public var waiting = 0
    public var failures: [Failure] = []
    /// What a person must decide first.
    public var issues: [Issue] = []
}

extension AccountHost {
    /// Fetches a file, or everything below a folder, for a person. What is here already, as the newest version that is known, costs
    /// no request.
    /// - Parameter waits: Whether it is fetched now; otherwise the next run does it.
    /// - Throws: `.notFound` if there is no such item, and what asking the server for it comes to if it is not known.
    public func get(_ path: ItemPath, waits: Bool) async throws(Failure) -> GetOutcome {
        try await failing { [self] in
            try await recover()
            var outcome = GetOutcome()
            var isOnline = false
            if waits { isOnline = try await look(at: path, &outcome) }
            let records = try await ask(for: path, &outcome)
            outcome.waiting = records.count
            guard waits, !records.isEmpty else { return outcome }
            if !isOnline {
                do throws(Failure) { _ = try await reach() } catch { outcome.failures.append(error) }
            }
            guard outcome.failures.isEmpty || engine.isOnline else {
                for index in outcome.failures.indices { outcome.failures[index].addHint(Self.goesOn) }
                return outcome
            }
            let drained = try await engine.drain(only: records)
            outcome.waiting = drained.leftCount
            if let failure = drained.failure { outcome.failures.append(failure) }
            guard drained.failure == nil, !drained.isOffline else { return outcome }
            for left in drained.left {
                if let id = left.issue, let issue = try await database.read({ try $0.issues.issue(id: id) }) {
                    outcome.issues.append(issue)
                } else {
                    outcome.failures.append(Failure(left.failure.ofOneItem, "\(left.path): \(left.why)"))
                }
            }
            return outcome
        }
    }

    /// Copies a file's content to another file.
    /// - Parameter target: where; relative to the process's folder or absolute.
    /// - Throws: `.failed` if the file is not here as the server has it, `.cannotCreate`, `.localIO`.
    public func export(_ path: ItemPath, to target: String) async throws(Failure) {
        try await failing { [database, vault] in
            let item = try await database.read { try $0.items.item(at: path) }
            guard let item, item.cloudStatus == .localCopy, let copy = item.copy else {
                throw Failure(.failed, "\(path) is not here as the server has it: \(target) was not written")
            }
            try await runBlocking { try vault.tree.export(path, known: copy, to: target) }
        }
    }

    /// Asks the server about what is not known here: the folders on the way to an item, or everything if it is a folder.
    /// - Returns: whether the server was asked.
    private func look(at path: ItemPath, _ outcome: inout GetOutcome) async throws -> Bool {
        let known = try await database.read { try $0.items.item(at: path) }
        if known?.kind == .file { return false }
        let facts: ServerFacts
        do throws(Failure) { facts = try await reach() } catch {
            guard known != nil else { throw error }
            // What is known of it can still be asked for.
            outcome.failures.append(error)
            return true
        }
        if known == nil { try await findFolders(above: path, facts) }
        let found = try await database.read { try $0.items.item(at: path) }
        guard path.isRoot || found?.kind == .folder else { return true }
        let mode = facts.isOwnCloudFamily ? try await nextMode(facts) : .whole
        let scan = try await scan(facts, mode, root: facts.rootItem)
        outcome.failures += scan.failures
        return true
    }

    private static let goesOn = "what is queued goes on with the next `larder run`"

    private func reach() async throws(Failure) -> ServerFacts {
        do {
            return try await Patience.trying(clock, upTo: 1) { try await connect().facts }
        } catch let error as ConnectionError {
            throw error.failure
        } catch {
            throw Failure(of: error)
        }
    }

    /// Lists the folders on the way to an item, as far as they are not known, and the one that it is in.
    private func findFolders(above path: ItemPath, _ facts: ServerFacts) async throws {
        let history = try await database.read { try $0.scanHistory() }
        var way: [ItemPath] = []
        var folder = path
        while !folder.isRoot {
            folder = folder.parent
            way.append(folder)
            if try await database.read({ [folder] in try $0.items.item(at: folder) }) != nil { break }
        }
        for folder in way.reversed() {
            let known = try await database.read { try $0.items.item(at: folder) }
            guard folder.isRoot || known?.kind == .folder else { return }
            if let error = try await list.listAgain(
                folder, etagsNameWrites: facts.isOwnCloudFamily && !history.etagsWereWrong)
            {
                throw error
            }
        }
    }

    /// Puts the downloads of an item, and of all below it, into the journal.
    /// - Returns: their records that may go on now.
    private func ask(for path: ItemPath, _ outcome: inout GetOutcome) async throws -> Set<Int64> {
        let items = try await database.read { reads in
            var items: [(id: LocalID, path: ItemPath, kind: Item.Kind)] = []
            if let item = try reads.items.item(at: path) {
                if !path.isRoot { items.append((item.localID, item.path, item.kind)) }
                if item.kind == .file { return items }
            } else if !path.isRoot {
                throw Failure.noItem(path)
            }
            var listing = ItemListing(folder: path, isRecursive: true)
            // What is only here is nothing to fetch.
            listing.leavesOut = .localOnly
            try reads.items.each(listing) { item in
                items.append((item.localID, item.path, item.kind))
                return true
            }
            return items
        }
        var records: Set<Int64> = []
        for batch in items.batches(of: 1_000) {
            let (outcomes, issues) = try await database.write { [engine] tx in
                let outcomes = try engine.enqueue(
                    batch.map { ActionRequest(.download, item: $0.id, reason: .user) }, in: tx)
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

extension Failure {
    fileprivate mutating func addHint(_ more: String) { hint = hint.map { "\($0); \(more)" } ?? more }
}

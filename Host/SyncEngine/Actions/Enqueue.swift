public import Database
import Logging
public import Model

extension SyncEngine {
    /// Takes requests in: does the early checks and the preflight and writes the journal, all in the caller's
    /// transaction. A request's changes of an item become visible with that transaction's commit. If the transaction is
    /// rolled back, nothing was requested.
    ///
    /// A request for something that is under way or already done changes nothing. Requests of persons and plugins are
    /// treated alike, except that a person is asked where a plugin's request is refused.
    /// - Returns: An outcome for each request, in the order of the requests.
    /// - Throws: The database's errors: SQLite's, see ``DatabaseReads``, or `.internal` if a stored record makes no
    ///   sense. The transaction must not be committed then. A refused request is an outcome, not an error.
    public func enqueue(_ requests: [ActionRequest], in tx: Transaction) throws -> [EnqueueOutcome] {
        var outcomes: [EnqueueOutcome] = []
        outcomes.reserveCapacity(requests.count)
        for request in requests {
            let outcome = try enqueue(request, in: tx)
            if case .refused(let failure) = outcome {
                let kind = request.action.kind.rawValue
                logger.notice("The action \(kind) for \(request.reason) was not queued: \(failure.message)")
            }
            outcomes.append(outcome)
        }
        return outcomes
    }

    /// Takes in a requester's downloads of files of which nothing is here and nothing else is wanted, as
    /// ``enqueue(_:in:)`` does for requests without a key, and leaves all others alone.
    /// - Returns: The items whose downloads were queued.
    /// - Throws: SQLite's error; see ``DatabaseReads``. The transaction must not be committed then.
    public func enqueueFirstDownloads(
        of items: [LocalID], for reason: DownloadTrigger, whileCovered: Bool, in tx: Transaction
    ) throws -> Set<LocalID> {
        let queued = try tx.journal.insertFirstDownloads(
            of: items, for: reason, whileCovered: whileCovered, since: clock.now())
        counters.expect(files: queued.items.count, bytes: queued.bytes)
        return queued.items
    }

    private func enqueue(_ request: ActionRequest, in tx: Transaction) throws -> EnqueueOutcome {
        if let same = try same(as: request, in: tx) { return .joined(same.id) }
        guard let item = try tx.items.item(localID: request.item) else {
            return .refused(Failure(.notFound, "No item has the id \(request.item)"))
        }
        return try action(request.action.kind).preflight(request, of: item, in: tx)
    }

    /// Returns the record of an earlier request for the same thing, if there is one.
    private func same(as request: ActionRequest, in tx: Transaction) throws -> SyncRecord? {
        if let key = request.key { return try tx.journal.record(reason: request.reason, key: key) }
        // A person's request without a key may be another one.
        guard request.reason != .user else { return nil }
        return try tx.journal.records(of: request.item).first {
            $0.reason == request.reason && $0.action.kind == request.action.kind
        }
    }

    /// Writes a new record that may go on at once.
    func record(_ request: ActionRequest, of item: Item, in tx: Transaction) throws -> SyncRecord {
        try tx.journal.insert(
            SyncRecord(
                action: request.action, state: .ready, localID: item.localID, path: item.path,
                reason: request.reason,
                key: request.key, since: clock.now(), whileCovered: request.whileCovered))
    }
}

public import Database
import Logging
import Model

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

    private func enqueue(_ request: ActionRequest, in tx: Transaction) throws -> EnqueueOutcome {
        if let key = request.key, let same = try tx.journal.record(reason: request.reason, key: key) {
            return .joined(same.id)
        }
        guard let item = try tx.items.item(localID: request.item) else {
            return .refused(Failure(.notFound, "No item has the id \(request.item)"))
        }
        return try action(request.action.kind).preflight(request, of: item, in: tx)
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

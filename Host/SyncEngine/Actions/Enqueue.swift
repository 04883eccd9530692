public import Database
import Logging
import Model

extension SyncEngine {
    /// Takes requests in: early checks, then preflight, then the journal, all in the caller's transaction. What a request
    /// changes of an item is visible with that transaction's commit; if it is rolled back, nothing was asked for.
    ///
    /// Asking again for what is under way or is already so changes nothing. The same for a person and for a plugin, except
    /// that a person is asked where a plugin is refused.
    /// - Returns: an outcome for each request, in their order.
    /// - Throws: The database's errors: SQLite's, see ``DatabaseReads``, or `.internal` if a stored record makes no
    ///   sense. The transaction must not be committed then. What is refused is an outcome, not an error.
    public func enqueue(_ requests: [ActionRequest], in tx: Transaction) throws -> [EnqueueOutcome] {
        var outcomes: [EnqueueOutcome] = []
        outcomes.reserveCapacity(requests.count)
        for request in requests {
            let outcome = try enqueue(request, in: tx)
            if case .refused(let failure) = outcome {
                logger.notice("\(request.action.kind.rawValue) for \(request.reason) refused: \(failure.message)")
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

import Connection
import Database
import Model

/// The action that makes an item a favorite of the account, or ends that. Only servers of the ownCloud family have
/// favorites.
struct SetFavoriteAction: RecordedChange {
    static let activity = SyncActivity.updating

    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    func preflight(
        _ path: ItemPath, _ isFavorite: Bool, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        var item: Item
        switch try context.queue.itemToChange(path, in: tx) {
        case .failure(let failure): return .refused(failure)
        case .success(let found): item = found
        }
        if let earlier = try tx.journal.records(of: item.localID).last(where: { $0.action.kind == .setFavorite }) {
            guard earlier.action != .setFavorite(isFavorite) else { return .joined(earlier.id) }
            // The change and its opposite, neither of which was made, are nothing.
            if !earlier.mayHaveArrived {
                try context.records.deschedule(earlier, in: tx)
                return .done
            }
        } else if item.isFavorite == isFavorite {
            return .done
        }
        item.isFavorite = isFavorite
        item.syncActivity.insert(Self.activity)
        item = try tx.items.update(item)
        return .queued(
            try context.records.record(.setFavorite(isFavorite), of: item, at: path, for: requester, in: tx).id)
    }

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<RecordedEffect> {
        guard case .setFavorite(let isFavorite) = job.record.action else {
            throw Failure(.internal, "\(job.record.action.kind.rawValue) does not change a favorite")
        }
        let (path, request) = (job.record.path, WriteRequest.setFavorite(job.record.path))
        let outcome = try await server.setFavorite(path, isFavorite)
        guard case .unclear = outcome else { return try result(outcome, of: request) }
        guard let held = try await afterChange({ try await server.held(at: path) }) else {
            return .refused(WriteRefusal.notFound.failure(of: request), .change)
        }
        guard held.item.isFavorite == isFavorite else {
            return .refused(
                Failure(
                    .failed, "the server took the mark of \(path) as a favorite, and does not show it",
                    hint: "Check whether a proxy answers in the server's place"), .change)
        }
        return .done()
    }

    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws {
        var item = try item(of: record, in: tx)
        let pending = try pendingProperties(of: item, besides: record, in: tx)
        if pending.isEmpty { item.syncActivity.remove(Self.activity) }
        try tx.items.updateLocal(item)
    }

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        guard case .setFavorite(let isFavorite) = record.action else { return }
        var item = found
        let pending = try pendingProperties(of: item, besides: record, in: tx)
        if pending.isEmpty { item.syncActivity.remove(Self.activity) }
        item.isFavorite = !isFavorite
        try tx.items.update(item)
    }
}

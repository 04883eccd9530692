public import Database
import LocalTree
public import Model

extension SyncEngine {
    /// What a person or a plugin requests of the engine.
    public enum Request: Hashable, Sendable {
        /// An action on an item.
        case action(ActionRequest)
        /// A change of the server.
        case change(ChangeRequest, for: ChangeRequester = .user)
    }

    /// Takes a request in: does the early checks and the preflight and writes the journal, all in the caller's
    /// transaction. A request's changes of an item become visible with that transaction's commit. If the transaction is
    /// rolled back, nothing was requested. The tree's moves that follow from a change of the server are journalled too;
    /// the caller has them carried out after the commit.
    ///
    /// A request for something that is under way or already done changes nothing. Requests of persons and plugins are
    /// treated alike, except that a person is asked where a plugin's request is refused.
    /// - Throws: The database's errors: SQLite's, see ``DatabaseReads``, or `.internal` if a stored record makes no
    ///   sense. The transaction must not be committed then. A refused request is an outcome, not an error.
    public func enqueue(_ request: Request, in tx: Transaction) throws -> EnqueueOutcome {
        try context.intake.enqueue(request, in: tx)
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

    /// Requests another download of a copy that may hold the first of two contents with one ETag. The copy stays as it
    /// is until the new file replaces it without a gap.
    ///
    /// Does nothing if another record concerns the item, or if the copy is claimed for more than reading. The next scan
    /// that finds the copy in this state calls the function again.
    /// - Throws: `.internal` if a record or claim makes no sense, or SQLite's error; see ``DatabaseReads``.
    public func fetchAgain(_ id: LocalID, in tx: Transaction) throws {
        guard var item = try tx.items.item(localID: id), item.kind == .file, item.cloudStatus == .localCopy,
            !item.isRemoved,
            try tx.journal.records(of: id).isEmpty,
            try tx.claims.valid(of: id, in: .current(now: clock.agesTo())).allSatisfy({ $0.kind == .read })
        else { return }
        item.syncActivity.insert(.downloading)
        item = try tx.items.updateLocal(item)
        var request = ActionRequest(.download, item: id, reason: item.downloadTrigger ?? .user)
        request.key = DownloadAction.keyOfFetchingAgain(id)
        _ = try context.records.record(request, of: item, in: tx)
        counters.expect(files: 1, bytes: item.size ?? 0)
    }

    /// The guard against plugins that delete too much on the server.
    public var deletions: PluginDeletions { context.deletions }
}

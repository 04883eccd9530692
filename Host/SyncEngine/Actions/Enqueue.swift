public import Database
import LocalTree
import Logging
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
        switch request {
        case .action(let request):
            let outcome = try enqueue(request, in: tx)
            if case .refused(let failure) = outcome {
                let kind = request.action.recorded.kind.rawValue
                logger.notice("The action \(kind) for \(request.reason) was not queued: \(failure.message)")
            }
            return outcome
        case .change(let change, let requester):
            if let key = requester.key, let same = try tx.journal.record(reason: requester.reason, key: key) {
                return .joined(same.id)
            }
            return try preflight(change, for: requester, in: tx)
        }
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
        return switch request.action {
        case .download: try DownloadAction(self).preflight(request, of: item, in: tx)
        case .removeLocalCopy(let restoresFormerTrigger, let unusedSince):
            try RemoveLocalCopyAction(self).preflight(
                request, of: item, restoresFormerTrigger: restoresFormerTrigger, onlyUnused: unusedSince != nil, in: tx)
        case .purge: try PurgeAction(self).preflight(request, of: item, in: tx)
        }
    }

    private func preflight(
        _ change: ChangeRequest, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        switch change {
        case .createFolder(let path): try CreateFolderAction(self).preflight(path, for: requester, in: tx)
        case .haveFolder(let path):
            try hasFolder(at: path, in: tx)
                ? .done : try CreateFolderAction(self).preflight(path, for: requester, in: tx)
        case .delete(let path): try DeleteAction(self).preflight(path, for: requester, in: tx)
        case .move(let path, let target): try MoveAction(self).preflight(path, to: target, for: requester, in: tx)
        case .copy(let path, let target): try CopyAction(self).preflight(path, to: target, for: requester, in: tx)
        case .put(let snapshot, _, _) where !Tree.isSnapshotName(snapshot.name):
            .refused(Failure(.badData, "no snapshot of a file has the name that the request gives"))
        case .put(let snapshot, let path, let replaces):
            try UploadAction(self).preflight(path, snapshot, replaces: replaces, for: requester, in: tx)
        case .setFavorite(let path, let isFavorite):
            try SetFavoriteAction(self).preflight(path, isFavorite, for: requester, in: tx)
        case .setModificationTime(let path, let time):
            try SetModificationTimeAction(self).preflight(path, time, for: requester, in: tx)
        }
    }

    /// Returns the record of an earlier request for the same thing, if there is one.
    private func same(as request: ActionRequest, in tx: Transaction) throws -> SyncRecord? {
        if let key = request.key { return try tx.journal.record(reason: request.reason, key: key) }
        // A person's request without a key may be another one.
        guard request.reason != .user else { return nil }
        return try tx.journal.records(of: request.item).first {
            $0.reason == request.reason && $0.action.kind == request.action.recorded.kind
        }
    }

    /// Writes a new record that may go on at once.
    func record(_ request: ActionRequest, of item: Item, in tx: Transaction) throws -> SyncRecord {
        try tx.journal.insert(
            SyncRecord(
                action: request.action.recorded, state: .ready, localID: item.localID, path: item.path,
                reason: request.reason,
                key: request.key, since: clock.now(), whileCovered: request.whileCovered))
    }
}

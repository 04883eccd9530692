import Database
import LocalTree
import Logging
import Model

/// The early checks and the preflight of requests.
struct Intake: EnginePart {
    let context: ActionContext

    /// As ``SyncEngine/enqueue(_:in:)``.
    func enqueue(_ request: SyncEngine.Request, in tx: Transaction) throws -> EnqueueOutcome {
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

    private func enqueue(_ request: ActionRequest, in tx: Transaction) throws -> EnqueueOutcome {
        if let same = try same(as: request, in: tx) { return .joined(same.id) }
        guard let item = try tx.items.item(localID: request.item) else {
            return .refused(Failure(.notFound, "No item has the id \(request.item)"))
        }
        return switch request.action {
        case .download: try DownloadAction(context).preflight(request, of: item, in: tx)
        case .removeLocalCopy(let restoresFormerTrigger, let unusedSince):
            try RemoveLocalCopyAction(context).preflight(
                request, of: item, restoresFormerTrigger: restoresFormerTrigger, onlyUnused: unusedSince != nil, in: tx)
        case .purge: try PurgeAction(context).preflight(request, of: item, in: tx)
        }
    }

    private func preflight(
        _ change: ChangeRequest, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        switch change {
        case .createFolder(let path): try CreateFolderAction(context).preflight(path, for: requester, in: tx)
        case .haveFolder(let path):
            try context.queue.hasFolder(at: path, in: tx)
                ? .done : try CreateFolderAction(context).preflight(path, for: requester, in: tx)
        case .delete(let path): try DeleteAction(context).preflight(path, for: requester, in: tx)
        case .move(let path, let target): try MoveAction(context).preflight(path, to: target, for: requester, in: tx)
        case .copy(let path, let target): try CopyAction(context).preflight(path, to: target, for: requester, in: tx)
        case .put(let snapshot, _, _) where !Tree.isSnapshotName(snapshot.name):
            .refused(Failure(.badData, "no snapshot of a file has the name that the request gives"))
        case .put(let snapshot, let path, let replaces):
            try UploadAction(context).preflight(path, snapshot, replaces: replaces, for: requester, in: tx)
        case .setFavorite(let path, let isFavorite):
            try SetFavoriteAction(context).preflight(path, isFavorite, for: requester, in: tx)
        case .setModificationTime(let path, let time):
            try SetModificationTimeAction(context).preflight(path, time, for: requester, in: tx)
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
}

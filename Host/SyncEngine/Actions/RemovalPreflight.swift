import Database
import LocalTree
import Model

extension SyncEngine {
    func preflightRemoval(
        _ request: ActionRequest, of found: Item, restoresFormerTrigger: Bool, onlyUnused: Bool,
        in tx: Transaction
    ) throws -> EnqueueOutcome {
        var item = found
        let records = try tx.journal.records(of: item.localID)
        switch try objection(to: request.action, of: item, besides: nil, in: tx) {
        case .kept(let why) where request.reason == .user: return .refused(Failure(.badData, "\(item.path) \(why)"))
        case .kept(let why):
            passOver(item, why, request.action, for: request.reason)
            return .done
        case .used(let use) where onlyUnused:
            passOver(item, use, request.action, for: request.reason)
            return .done
        // What is in the way of a removal that waits for it is looked at when its turn comes.
        case .used, .moving, .changed, nil: break
        }
        if let earlier = records.first(where: { $0.action.isRemoval }) {
            return try join(earlier, request, in: tx)
        }
        var isLanding = false
        for download in records where download.action == .download && download.reason == request.reason {
            if download.landing != nil {
                // Its file may be in place any moment: the removal follows it.
                isLanding = true
            } else {
                _ = try letGo(download, of: &item, in: tx)
            }
        }
        switch item.cloudStatus {
        case .locallyModified, .localOnly:
            return .refused(
                Failure(.failed, "\(item.path) was changed here, and the server does not have the change: it stays"))
        case .cloudOnly where !isLanding: return .done
        case .cloudOnly, .localCopy: break
        }
        if restoresFormerTrigger, !isLanding, item.formerTrigger != nil {
            item.returnToFormerTrigger(now: clock.now())
            try tx.items.updateLocal(item)
            return .done
        }
        if item.kind == .folder {
            item.releaseCopy()
            try tx.items.updateLocal(item)
            _ = try tree.removeFolderIfEmpty(item.path)
            return .done
        }
        return .queued(try record(request, of: item, in: tx).id)
    }

    /// One removal serves both. What only goes unused is from now on waited for, and what waits is tried at once when a person
    /// asks.
    private func join(
        _ earlier: SyncRecord, _ request: ActionRequest, in tx: Transaction
    ) throws -> EnqueueOutcome {
        var joined = earlier
        if case .removeLocalCopy(_, .some) = earlier.action {
            joined.action = request.action
            joined.reason = request.reason
            joined.key = request.key
        }
        if request.reason == .user { joined.wait = nil }
        if joined != earlier {
            try tx.journal.update(joined)
            controls.suspend(earlier.id, cancels: false)
        }
        return .joined(earlier.id)
    }
}

extension SyncRecord.Action {
    var isRemoval: Bool {
        switch self {
        case .removeLocalCopy, .purge: true
        case .download: false
        }
    }
}

extension Item {
    /// Gives an adopted copy back to whoever had it before. It counts as used now, so that it does not go at once.
    mutating func returnToFormerTrigger(now: Timestamp) {
        downloadTrigger = formerTrigger
        formerTrigger = nil
        lastUsed = now
    }

    /// The copy is not here any more, or as a folder is not kept.
    mutating func releaseCopy() {
        cloudStatus = .cloudOnly
        copy = nil
        downloadTrigger = nil
        formerTrigger = nil
    }
}

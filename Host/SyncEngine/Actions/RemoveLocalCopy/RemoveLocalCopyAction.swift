import Database
import LocalTree
import Logging
public import Model

/// The action that removes a copy and leaves the item on the server alone.
struct RemoveLocalCopyAction: RemovalAction {
    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    /// - Parameters:
    ///   - restoresFormerTrigger: Whether the copy goes back to its former trigger, if it has one.
    ///   - onlyUnused: Whether only a copy is to go that nobody uses.
    func preflight(
        _ request: ActionRequest, of found: Item, restoresFormerTrigger: Bool, onlyUnused: Bool, in tx: Transaction
    ) throws -> EnqueueOutcome {
        let action = request.action.recorded
        var item = found
        let records = try tx.journal.records(of: item.localID)
        switch try context.copies.objection(to: action, of: item, besides: nil, in: tx) {
        case .kept(let why) where request.reason == .user: return .refused(Failure(.badData, "\(item.path) \(why)"))
        case .kept(let why):
            context.copies.passOver(item, why, action, for: request.reason)
            return .done
        case .used(let use) where onlyUnused:
            context.copies.passOver(item, use, action, for: request.reason)
            return .done
        // The removal waits for these obstacles. They are checked when its turn comes.
        case .used, .moving, .changed, nil: break
        }
        if let earlier = records.first(where: { $0.action.kind.isRemoval }) {
            return try join(earlier, request, in: tx)
        }
        var isLanding = false
        for download in records where download.action.kind == .download && download.reason == request.reason {
            if download.landing != nil {
                // The file may be in place at any moment: the removal comes after the download.
                isLanding = true
            } else {
                _ = try context.records.letGo(download, of: &item, in: tx)
            }
        }
        switch item.cloudStatus {
        case .locallyModified, .localOnly:
            return .refused(
                Failure(
                    .failed, "\(item.path) was changed here, and the server does not have the change: the file stays"))
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
        return .queued(try context.records.record(request, of: item, in: tx).id)
    }

    /// Joins an earlier removal. One removal serves both requesters. A removal that was only for an unused copy takes
    /// over the new request, and a removal that waits is tried at once if a person requests it.
    private func join(
        _ earlier: SyncRecord, _ request: ActionRequest, in tx: Transaction
    ) throws -> EnqueueOutcome {
        var joined = earlier
        if case .removeLocalCopy(_, .some) = earlier.action {
            joined.action = request.action.recorded
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

    func carryOut(_ job: Job, in tx: Transaction) throws -> RecordOutcome {
        guard let journal = try tx.journal.record(id: job.id),
            case .removeLocalCopy(let restores, let unusedSince) = journal.action
        else { return RecordOutcome(record: job.id, resolution: .ended) }
        guard var item = try tx.items.item(localID: journal.localID), item.cloudStatus != .cloudOnly else {
            return try context.records.done(journal, in: tx)
        }
        let objection = try context.copies.objection(to: journal.action, of: item, besides: journal, in: tx)
        if case .kept(let why) = objection { return try keep(journal, item, why, in: tx) }
        if case .used(let use) = objection, unusedSince != nil { return try leave(job, journal, item, use, in: tx) }
        if restores, item.formerTrigger != nil {
            item.returnToFormerTrigger(now: clock.now())
            try tx.items.updateLocal(item)
            return try context.records.done(journal, in: tx)
        }
        switch objection {
        case .used(let use): return try leave(job, journal, item, use, in: tx)
        case .moving: return try context.failures.waitForMove(job, of: item, in: tx)
        case .changed: return try refuse(journal, item, in: tx)
        case .kept, nil: break
        }
        guard let copy = item.copy else { return try refuse(journal, item, in: tx) }
        let outcome: RemoveOutcome
        do { outcome = try tree.remove(at: item.path, known: copy) } catch {
            // A copy that cannot be removed holds up no other.
            let decision = RetryDecision.wait(
                until: context.waitTime() + SyncEngine.inUseDelay, attempts: journal.attempts)
            return try context.failures.resolve(job, decision, because: error, in: tx)
        }
        switch outcome {
        case .removed, .nothingThere:
            if outcome == .removed { tx.noteRemovedCopy() }
            item.releaseCopy()
            try tx.items.updateLocal(item)
            try context.copies.removeEmptyFolders(above: item.path, in: tx)
            logger.debug("Removed the copy of \(item.path) for \(journal.reason)")
            return try context.records.done(journal, in: tx)
        case .modified:
            item.cloudStatus = .locallyModified
            try tx.items.updateLocal(item)
            return try refuse(journal, item, in: tx)
        case .inUse: return try leave(job, journal, item, "is open in another program", in: tx)
        case .obstructed(let obstruction):
            // The obstacle is not the copy, whatever it is.
            logger.notice("The copy of \(item.path) is gone: \(obstruction.text) is in its place")
            item.releaseCopy()
            try tx.items.updateLocal(item)
            return try context.records.done(journal, in: tx)
        }
    }

    /// Keeps a copy that nobody wants to remove any more, and ends the removal. A person who requested the removal is
    /// told.
    private func keep(
        _ journal: SyncRecord, _ item: Item, _ why: String, in tx: Transaction
    ) throws -> RecordOutcome {
        context.copies.passOver(item, why, journal.action, for: journal.reason)
        var outcome = try context.records.done(journal, in: tx)
        if journal.reason == .user { outcome.failure = Failure(.badData, "\(item.path) \(why)") }
        return outcome
    }

    /// Keeps a copy that somebody uses. The removal ends if it was only for an unused copy, or if a person requested
    /// it, who is told. Otherwise the removal waits.
    private func leave(
        _ job: Job, _ journal: SyncRecord, _ item: Item, _ use: String, in tx: Transaction
    ) throws -> RecordOutcome {
        if case .removeLocalCopy(_, .some) = journal.action {
            context.copies.passOver(item, use, journal.action, for: journal.reason)
            return try context.records.done(journal, in: tx)
        }
        let failure = Failure(.failed, "\(item.path) \(use) and was not removed")
        if journal.reason == .user {
            var outcome = try context.records.done(journal, in: tx)
            outcome.failure = failure
            return outcome
        }
        let decision = RetryDecision.wait(until: context.waitTime() + SyncEngine.inUseDelay, attempts: journal.attempts)
        return try context.failures.resolve(job, decision, because: failure, in: tx)
    }

    private func refuse(_ journal: SyncRecord, _ item: Item, in tx: Transaction) throws -> RecordOutcome {
        let failure = Failure(
            .failed, "\(item.path) was changed here, and the server does not have the change: the file stays")
        logger.notice("\(failure.message)")
        var outcome = try context.records.done(journal, in: tx)
        outcome.failure = failure
        return outcome
    }
}

extension Item {
    /// Gives an adopted copy back to its previous trigger. The copy counts as used now, so that it is not removed at
    /// once.
    mutating func returnToFormerTrigger(now: Timestamp) {
        downloadTrigger = formerTrigger
        formerTrigger = nil
        lastUsed = now
    }

    /// Records that the copy is no longer here, or that a folder is no longer kept.
    public mutating func releaseCopy() {
        cloudStatus = .cloudOnly
        copy = nil
        downloadTrigger = nil
        formerTrigger = nil
    }
}

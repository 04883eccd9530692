import Connection
import Database
import LocalTree
import Logging
import Model

extension SyncEngine {
    /// Removes copies, and writes their items and records in the same transaction, so that nobody asks for a copy again that is
    /// just going. After a crash in between the copy is found missing, and the item says so. It blocks.
    func removeCopies(_ jobs: [Job]) throws -> [Settlement] {
        do {
            let count = try readFirst(jobs)
            return try database.writeBlocking { tx in
                let start = clock.monotonic()
                let settlements = try jobs.enumerated().map { index, job in
                    // Copies that have to be read take long, and all other writers wait: the rest gets a transaction of its own.
                    guard index < count, clock.monotonic() - start < Self.longestRemoval else {
                        return Settlement(record: job.id, fate: .stale)
                    }
                    return job.record.action == .purge ? try purge(job, in: tx) : try removeCopy(job, in: tx)
                }
                try tree.syncRemovals()
                // What went may have been in another's way.
                try tx.journal.endPlaceWaits()
                return settlements
            }
        } catch let failure as Failure where failure.kind == .localIO {
            let until = waitTime() + Self.inUsePatience
            return jobs.map { Settlement(record: $0.id, fate: .waits(until: until), failure: failure) }
        }
    }

    /// After this a transaction that removes copies takes no more of them.
    static let longestRemoval = Duration.seconds(2)

    private func removeCopy(_ job: Job, in tx: Transaction) throws -> Settlement {
        guard let journal = try tx.journal.record(id: job.id),
            case .removeLocalCopy(let restores, let unusedSince) = journal.action
        else { return Settlement(record: job.id, fate: .ended) }
        guard var item = try tx.items.item(localID: journal.localID), item.cloudStatus != .cloudOnly else {
            return try done(journal, in: tx)
        }
        let objection = try objection(to: journal.action, of: item, besides: journal, in: tx)
        if case .kept(let why) = objection { return try keep(journal, item, why, in: tx) }
        if case .used(let use) = objection, unusedSince != nil { return try leave(job, journal, item, use, in: tx) }
        if restores, item.formerTrigger != nil {
            item.returnToFormerTrigger(now: clock.now())
            try tx.items.updateLocal(item)
            return try done(journal, in: tx)
        }
        switch objection {
        case .used(let use): return try leave(job, journal, item, use, in: tx)
        case .moving: return try waitForMove(job, of: item, in: tx)
        case .changed: return try refuse(journal, item, in: tx)
        case .kept, nil: break
        }
        guard let copy = item.copy else { return try refuse(journal, item, in: tx) }
        let outcome: RemoveOutcome
        do { outcome = try tree.remove(at: item.path, known: copy) } catch {
            // One that cannot go holds up no other.
            let verdict = Verdict.wait(until: waitTime() + Self.inUsePatience, attempts: journal.attempts)
            return try settle(job, verdict, because: error, in: tx)
        }
        switch outcome {
        case .removed, .nothingThere:
            if outcome == .removed { tx.noteRemovedCopy() }
            item.releaseCopy()
            try tx.items.updateLocal(item)
            try removeEmptyFolders(above: item.path, in: tx)
            logger.debug("Removed the copy of \(item.path)")
            return try done(journal, in: tx)
        case .modified:
            item.cloudStatus = .locallyModified
            try tx.items.updateLocal(item)
            return try refuse(journal, item, in: tx)
        case .inUse: return try leave(job, journal, item, "is open in another program", in: tx)
        case .obstructed(let obstruction):
            // Whatever it is, it is not the copy.
            logger.notice("\(obstruction.text) lies where the copy of \(item.path) was")
            item.releaseCopy()
            try tx.items.updateLocal(item)
            return try done(journal, in: tx)
        }
    }

    /// A copy that nobody wants gone any more stays, and the removal is over. A person who asked is told.
    private func keep(
        _ journal: SyncRecord, _ item: Item, _ why: String, in tx: Transaction
    ) throws -> Settlement {
        passOver(item, why, journal.action, for: journal.reason)
        var settlement = try done(journal, in: tx)
        if journal.reason == .user { settlement.failure = Failure(.badData, "\(item.path) \(why)") }
        return settlement
    }

    /// Soon, and later each time: the move may meet trouble.
    func waitForMove(_ job: Job, of item: Item, in tx: Transaction) throws -> Settlement {
        let attempts = job.record.attempts + 1
        let until = waitTime() + Self.backoff.delay(afterFailures: attempts)
        let failure = Failure(.failed, "\(item.path) is being moved")
        return try settle(job, .wait(until: until, attempts: attempts), because: failure, in: tx)
    }

    /// A copy that somebody uses stays: for good if it was to go only unused, or if a person asked, who is told; else for now.
    private func leave(
        _ job: Job, _ journal: SyncRecord, _ item: Item, _ use: String, in tx: Transaction
    ) throws -> Settlement {
        if case .removeLocalCopy(_, .some) = journal.action {
            passOver(item, use, journal.action, for: journal.reason)
            return try done(journal, in: tx)
        }
        let failure = Failure(.failed, "\(item.path) \(use) and was not removed")
        if journal.reason == .user {
            var settlement = try done(journal, in: tx)
            settlement.failure = failure
            return settlement
        }
        let verdict = Verdict.wait(until: waitTime() + Self.inUsePatience, attempts: journal.attempts)
        return try settle(job, verdict, because: failure, in: tx)
    }

    /// Folders that are not kept here for their own sake go with the last copy in them.
    func removeEmptyFolders(above path: ItemPath, in tx: Transaction) throws {
        var folder = path.parent
        while !folder.isRoot {
            if let item = try tx.items.item(at: folder), item.cloudStatus != .cloudOnly { return }
            do { guard try tree.removeFolderIfEmpty(folder) else { return } } catch { return }
            folder = folder.parent
        }
    }

    func done(_ journal: SyncRecord, in tx: Transaction) throws -> Settlement {
        try tx.journal.delete(id: journal.id)
        return Settlement(record: journal.id, fate: .ended)
    }

    private func refuse(_ journal: SyncRecord, _ item: Item, in tx: Transaction) throws -> Settlement {
        let failure = Failure(
            .failed, "\(item.path) was changed here, and the server does not have the change: it stays")
        logger.notice("\(failure.message)")
        var settlement = try done(journal, in: tx)
        settlement.failure = failure
        return settlement
    }
}

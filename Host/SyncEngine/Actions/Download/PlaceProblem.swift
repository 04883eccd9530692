import Database
import LocalTree
import Logging
import Model
import Synchronization

/// The reason why the tree did not take a file.
enum PlaceProblem: Sendable {
    /// A local file with content that the server is not known to have.
    case modified
    /// A local file that a program has open.
    case inUse
    case obstructed(Obstruction)
    /// A claim on the copy that the file would replace, as the end of a sentence.
    case claimed(String)
    case disk(Failure)
}

extension DownloadAction {
    /// Records what follows when the tree does not take a download.
    /// - Parameter job: The job, with its landing as journalled.
    func resolve(_ job: Job, _ problem: PlaceProblem, in tx: Transaction) throws -> RecordOutcome {
        switch problem {
        // The file is whole and verified, and is offered to the tree again unchanged.
        case .inUse, .disk: context.notTaken.withLock { $0[job.id] = job.record.landing }
        case .modified, .obstructed, .claimed: break
        }
        switch problem {
        case .modified: return try refuseModified(job, in: tx)
        case .inUse:
            let failure = Failure(
                .failed, "\(job.path) is open in another program and was not replaced",
                hint: "Larder tries again later")
            let decision = RetryDecision.wait(
                until: context.waitTime() + SyncEngine.inUseDelay, attempts: job.record.attempts)
            return try context.failures.resolve(job, decision, because: failure, in: tx)
        case .claimed(let claim): return try leaveClaimed(job, claim, in: tx)
        case .obstructed(let obstruction):
            if let item = try tx.items.item(localID: job.record.localID),
                let journal = try tx.journal.record(id: job.id),
                let place = try context.places.held(of: item, in: tx)
            {
                try context.places.wait(journal, for: place, in: tx)
                context.notTaken.withLock { $0[job.id] = job.record.landing }
                return RecordOutcome(record: job.id, resolution: .stale, failure: place.failure)
            }
            abandonIncoming(job)
            return try context.failures.resolve(job, .ask(.place), because: inTheWay(obstruction, of: job.path), in: tx)
        case .disk(let failure):
            let decision = RetryDecision.wait(
                until: context.waitTime() + SyncEngine.inUseDelay, attempts: job.record.attempts)
            return try context.failures.resolve(job, decision, because: failure, in: tx)
        }
    }

    /// Decides what follows from a failed download. If the file is missing on the server, and the removal of missing
    /// items is not decided yet, the download waits for that decision instead of becoming an issue of its own.
    func decision(
        _ decision: RetryDecision, of job: Job, after failure: FetchFailure, in tx: Transaction
    ) throws -> RetryDecision {
        guard case .gone = failure, let item = try tx.items.item(localID: job.record.localID) else { return decision }
        let held = try tx.scan.heldRemovals()
        switch decision {
        case .ask where held != nil, .retry where held != nil: break
        default: guard try tx.scan.isMissing(item) else { return decision }
        }
        return .hold(held.map { .issue($0.id) } ?? .place)
    }

    /// Handles a download whose copy is claimed. A plugin's download ends, as if it were requested now. A person's
    /// download waits.
    private func leaveClaimed(_ job: Job, _ claim: String, in tx: Transaction) throws -> RecordOutcome {
        guard let journal = try tx.journal.record(id: job.id) else {
            return RecordOutcome(record: job.id, resolution: .ended)
        }
        let failure = notReplaced(job.path, claim)
        guard journal.reason != .user else {
            let decision = RetryDecision.wait(
                until: context.waitTime() + SyncEngine.inUseDelay, attempts: job.record.attempts)
            return try context.failures.resolve(job, decision, because: failure, in: tx)
        }
        logger.debug("\(failure.message)")
        context.copies.note(
            DroppedAction(
                path: job.path, action: journal.action, reason: journal.reason, why: failure.message))
        try context.records.deschedule(journal, in: tx)
        return RecordOutcome(record: job.id, resolution: .ended)
    }

    /// Returns the claim that makes a download pointless, and whether the download waits for the end of the claim.
    func claim(
        against download: SyncRecord, of item: Item, in tx: Transaction
    ) throws -> (failure: Failure, waits: Bool)? {
        guard let claim = try context.copies.claimForWriting(of: item, in: tx) else { return nil }
        return (notReplaced(item.path, claim), download.reason == .user)
    }

    func notReplaced(_ path: ItemPath, _ claim: String) -> Failure {
        Failure(
            .failed, "\(path) \(claim) and was not replaced by the server's newer version",
            hint: .getAfterClaim(on: path))
    }

    func inTheWay(_ obstruction: Obstruction, of path: ItemPath) -> Failure {
        Failure(
            .cannotCreate, "\(path) cannot be kept here: \(obstruction.text) is in its way",
            hint: "Check \(tree.localPath(of: path))")
    }

    /// Handles a file that was changed here after the download was requested. Asks a person what to do, and ends a
    /// plugin's download.
    private func refuseModified(_ job: Job, in tx: Transaction) throws -> RecordOutcome {
        let failure = Failure(.failed, "\(job.path) was changed here; a download would replace the change")
        abandonIncoming(job)
        guard let journal = try tx.journal.record(id: job.id) else {
            return RecordOutcome(record: job.id, resolution: .ended)
        }
        if var item = try tx.items.item(localID: journal.localID), item.cloudStatus != .locallyModified {
            item.cloudStatus = .locallyModified
            try tx.items.updateLocal(item)
        }
        guard journal.reason == .user, !fetchesAgain(journal) else {
            logger.notice("\(failure.message)")
            try context.records.deschedule(journal, in: tx)
            return RecordOutcome(record: job.id, resolution: .ended, failure: failure)
        }
        return try context.failures.resolve(job, .ask(.overwrite), because: failure, in: tx)
    }
}

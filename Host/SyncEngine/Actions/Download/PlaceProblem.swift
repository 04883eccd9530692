import Database
import LocalTree
import Logging
import Model
import Synchronization

/// Why the tree did not take a file.
enum PlaceProblem: Sendable {
    /// There is content that the server is not known to have.
    case modified
    /// A program has it open.
    case inUse
    case obstructed(Obstruction)
    /// Somebody claims what it would replace. As a sentence's end.
    case claimed(String)
    case disk(Failure)
}

extension DownloadAction {
    /// Writes down what follows from the tree's problem to take a download.
    /// - Parameter job: With the landing that was journalled.
    func resolve(_ job: Job, _ problem: PlaceProblem, in tx: Transaction) throws -> RecordOutcome {
        switch problem {
        // It is whole and verified, and offered again as it is.
        case .inUse, .disk: engine.notTaken.withLock { $0[job.id] = job.record.landing }
        case .modified, .obstructed, .claimed: break
        }
        switch problem {
        case .modified: return try refuseModified(job, in: tx)
        case .inUse:
            let failure = Failure(
                .failed, "\(job.path) is open in another program and was not replaced", hint: "It is tried again")
            let decision = RetryDecision.wait(
                until: engine.waitTime() + SyncEngine.inUseDelay, attempts: job.record.attempts)
            return try engine.resolve(job, decision, because: failure, in: tx)
        case .claimed(let claim): return try leaveClaimed(job, claim, in: tx)
        case .obstructed(let obstruction):
            if let item = try tx.items.item(localID: job.record.localID),
                let journal = try tx.journal.record(id: job.id),
                let place = try engine.heldPlace(of: item, in: tx)
            {
                try engine.wait(journal, for: place, in: tx)
                engine.notTaken.withLock { $0[job.id] = job.record.landing }
                return RecordOutcome(record: job.id, resolution: .stale, failure: place.failure)
            }
            abandonIncoming(job)
            return try engine.resolve(job, .ask(.place), because: inTheWay(obstruction, of: job.path), in: tx)
        case .disk(let failure):
            let decision = RetryDecision.wait(
                until: engine.waitTime() + SyncEngine.inUseDelay, attempts: job.record.attempts)
            return try engine.resolve(job, decision, because: failure, in: tx)
        }
    }

    /// A file that is not on the server, while it is not decided whether what is missing there is gone, is no matter of its own.
    func decision(
        _ decision: RetryDecision, of job: Job, after failure: FetchFailure, in tx: Transaction
    ) throws -> RetryDecision {
        guard case .gone = failure, let item = try tx.items.item(localID: job.record.localID) else { return decision }
        let held = try tx.scan.heldRemovals()
        switch decision {
        case .ask where held != nil: break
        default: guard try tx.scan.isMissing(item) else { return decision }
        }
        return .hold(held.map { .issue($0.id) } ?? .place)
    }

    /// A plugin's download is over, as if it were asked for now; a person's waits.
    private func leaveClaimed(_ job: Job, _ claim: String, in tx: Transaction) throws -> RecordOutcome {
        guard let journal = try tx.journal.record(id: job.id) else {
            return RecordOutcome(record: job.id, resolution: .ended)
        }
        let failure = notReplaced(job.path, claim)
        guard journal.reason != .user else {
            let decision = RetryDecision.wait(
                until: engine.waitTime() + SyncEngine.inUseDelay, attempts: job.record.attempts)
            return try engine.resolve(job, decision, because: failure, in: tx)
        }
        logger.debug("\(failure.message)")
        engine.note(
            DroppedAction(
                path: job.path, action: journal.action, reason: journal.reason, why: failure.message))
        try engine.deschedule(journal, in: tx)
        return RecordOutcome(record: job.id, resolution: .ended)
    }

    /// A claim by which a download would be in vain, and whether that waits for the claim's end.
    func claim(
        against download: SyncRecord, of item: Item, in tx: Transaction
    ) throws -> (failure: Failure, waits: Bool)? {
        guard let claim = try engine.claimForWriting(of: item, in: tx) else { return nil }
        return (notReplaced(item.path, claim), download.reason == .user)
    }

    func notReplaced(_ path: ItemPath, _ claim: String) -> Failure {
        Failure(
            .failed, "\(path) \(claim) and was not replaced by the server's newer version",
            hint: "Get it when the claim is over; `larder claim list \(path)` shows it")
    }

    func inTheWay(_ obstruction: Obstruction, of path: ItemPath) -> Failure {
        Failure(
            .cannotCreate, "\(path) cannot be kept here: \(obstruction.text) is in its way",
            hint: "Look at \(tree.localPath(of: path))")
    }

    /// A file was changed here since the download was asked for: a person is asked, a plugin is refused.
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
            try engine.deschedule(journal, in: tx)
            return RecordOutcome(record: job.id, resolution: .ended, failure: failure)
        }
        return try engine.resolve(job, .ask(.overwrite), because: failure, in: tx)
    }
}

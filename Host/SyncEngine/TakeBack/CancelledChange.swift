import Database
import Logging
import Model

/// The cancelling of a change about which the server was asked: its request ends, and the server is asked what it has.
///
/// The end of a request does not end what the server does. So the record stays, and what comes after it waits, until it is
/// known what the server has made of it. That also holds for a change that an earlier run of the host began, and while
/// the server cannot be reached.
extension SyncEngine {
    /// The time for which the places of a copy, a move or a deletion must not change before the server is known to be
    /// done with it.
    static let cancelledStillness = Duration.seconds(60)

    /// What came of asking the server.
    enum Asked: Sendable {
        case answered(ChangeResult)
        /// The change was cancelled.
        case cancelled(RecordOutcome)
    }

    /// Cancels a change of which a request may have reached the server.
    func end(_ record: SyncRecord, in tx: Transaction) throws {
        var ended = record
        ended.evidence.isCancelled = true
        (ended.wait, ended.attempts) = (nil, 0)
        try tx.journal.update(ended)
        if let id = record.wait?.issue, try tx.issues.issue(id: id)?.record == record.id {
            try tx.issues.remove(id: id)
        }
        let end: (@Sendable () -> Void)? = controls.with { state in
            state.endedChanges.insert(record.id)
            return state.changeEnders[record.id]
        }
        end?()
        controls.suspend(record.id, cancels: false)
        logger.notice(
            """
            The action \(record.action.kind.rawValue) of \(record.path) is being cancelled: the server is asked what it has \
            made of it
            """)
    }

    /// Asks the server for a change, or, if the change was cancelled, what it has made of it.
    func ask(_ action: any ChangeAction, for job: Job) async throws -> Asked {
        guard job.record.evidence.isCancelled == true else { return try await request(action, for: job) }
        controls.with { _ = $0.endedChanges.remove(job.id) }
        switch try await action.effectOfCancelled(job) {
        case .made(let result):
            logger.notice("\(Self.name(of: job)) was carried out before it was cancelled")
            return .answered(result)
        case .partly(let result):
            try await spareSource(of: job.id)
            followed.noteTakenBack(job.id)
            logger.notice("\(Self.name(of: job)) is cancelled, and what the server has made of it stays")
            return .answered(result)
        case .notMade: return .cancelled(try await takeBackCancelled(job.id))
        case .unknown(let digest): return .cancelled(try await askAgain(job, digest))
        }
    }

    private static func name(of job: Job) -> String { "The action \(job.record.action.kind.rawValue) of \(job.path)" }

    /// Asks the server for a change, in a task that a person's cancelling ends.
    private func request(_ action: any ChangeAction, for job: Job) async throws -> Asked {
        let task = Task { try await action.request(job, mayHaveArrived: job.record.mayHaveArrived) }
        let isEnded = controls.with { state in
            state.changeEnders[job.id] = { task.cancel() }
            return state.endedChanges.contains(job.id)
        }
        if isEnded { task.cancel() }
        defer { controls.with { $0.changeEnders[job.id] = nil } }
        // The engine reads the record again, and asks what the server has.
        let stale = Asked.cancelled(RecordOutcome(record: job.id, resolution: .stale))
        let result: ChangeResult
        do {
            result = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            guard controls.with({ $0.endedChanges.remove(job.id) != nil }) else { throw error }
            return stale
        }
        let wasEnded = controls.with { $0.endedChanges.remove(job.id) != nil }
        return switch result {
        case .done, .uploaded: .answered(result)
        case .refused, .waits, .conflict, .uncertain: wasEnded ? stale : .answered(result)
        }
    }

    private func takeBackCancelled(_ id: SyncRecordID) async throws -> RecordOutcome {
        try await database.write { [self] tx in
            guard let record = try tx.journal.record(id: id) else {
                return RecordOutcome(record: id, resolution: .ended)
            }
            // A part may be made, and what is there is taken as it is.
            switch record.action {
            case .delete, .move:
                try tx.scan.add(ScanJob(path: record.path, isWhole: true))
                tx.noteFoldersLeft()
            default: break
            }
            try deschedule(record, in: tx)
            logger.notice("The action \(record.action.kind.rawValue) of \(record.path) is cancelled")
            return RecordOutcome(record: id, resolution: .ended)
        }
    }

    /// Takes back the later deletions of what a copy was to copy, and keeps its later versions here: nobody knows whether
    /// the copy is whole.
    private func spareSource(of id: SyncRecordID) async throws {
        try await database.write { [self] tx in
            guard let record = try tx.journal.record(id: id), case .copy(let source) = record.action else { return }
            try rewriteQueue(behind: record, nil, sparing: source, in: tx)
        }
    }

    private func askAgain(_ job: Job, _ digest: String) async throws -> RecordOutcome {
        let now = waitTime()
        let until = now + Self.cancelledStillness
        return try await database.write { tx in
            guard var record = try tx.journal.record(id: job.id) else {
                return RecordOutcome(record: job.id, resolution: .ended)
            }
            let before = record.evidence.observation
            if before?.digest != digest || before.map({ $0.since > now }) ?? true {
                record.evidence.observation = ChangeEvidence.Observation(digest: digest, since: now)
            }
            (record.state, record.wait) = (.ready, .until(until))
            try tx.journal.update(record)
            return RecordOutcome(
                record: job.id, resolution: .waits(until: until),
                failure: Failure(
                    .failed, "\(Self.name(of: job)) is being cancelled, and the server is asked what it has made of it")
            )
        }
    }
}

extension SyncRecord {
    /// Whether the server must be asked what it has made of the change before it is taken back. If it was asked and could
    /// not tell, so that a person is asked, it is not asked once more.
    var isToBeAskedFor: Bool {
        guard action.kind.changesServer, mayHaveArrived else { return false }
        if case .issue = wait { return evidence.isCancelled != true }
        return true
    }
}

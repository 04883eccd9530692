import Database
import Logging
import Model

/// The cancelling of a change about which the server was asked: its request ends, and the server is asked what it has.
///
/// The end of a request does not end what the server does. So the record stays, and what comes after it waits, until it is
/// known what the server has made of it. That also holds for a change that an earlier run of the host began, and while
/// the server cannot be reached.
extension ChangeRun {
    /// What came of asking the server.
    enum Asked: Sendable {
        case answered(ChangeResult<Action.Effect>)
        /// The change was cancelled.
        case cancelled(RecordOutcome)
    }

    /// Asks the server for a change, or, if the change was cancelled, what it has made of it.
    func ask() async throws -> Asked {
        guard job.record.evidence.isCancelled == true else { return try await request() }
        context.controls.with { _ = $0.endedChanges.remove(job.id) }
        switch try await action.effectOfCancelled(job) {
        case .made(let result):
            context.logger.notice("\(name) was carried out before it was cancelled")
            return .answered(result)
        case .partly(let result):
            try await spareSource()
            context.followed.noteTakenBack(job.id)
            context.logger.notice("\(name) is cancelled, and what the server has made of it stays")
            return .answered(result)
        case .notMade: return .cancelled(try await takeBackCancelled())
        case .unknown(let digest): return .cancelled(try await askAgain(digest))
        }
    }

    private var name: String { "The action \(job.record.action.kind.rawValue) of \(job.path)" }

    /// Asks the server for a change, in a task that a person's cancelling ends.
    private func request() async throws -> Asked {
        let task = Task { [action, job] in try await action.request(job, mayHaveArrived: job.record.mayHaveArrived) }
        let isEnded = context.controls.with { state in
            state.changeEnders[job.id] = { task.cancel() }
            return state.endedChanges.contains(job.id)
        }
        if isEnded { task.cancel() }
        defer { context.controls.with { $0.changeEnders[job.id] = nil } }
        // The engine reads the record again, and asks what the server has.
        let stale = Asked.cancelled(RecordOutcome(record: job.id, resolution: .stale))
        let result: ChangeResult<Action.Effect>
        do {
            result = try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            guard context.controls.with({ $0.endedChanges.remove(job.id) != nil }) else { throw error }
            return stale
        }
        let wasEnded = context.controls.with { $0.endedChanges.remove(job.id) != nil }
        return switch result {
        case .made: .answered(result)
        case .unmade: wasEnded ? stale : .answered(result)
        }
    }

    private func takeBackCancelled() async throws -> RecordOutcome {
        try await context.database.write { [self] tx in
            guard let record = try tx.journal.record(id: job.id) else {
                return RecordOutcome(record: job.id, resolution: .ended)
            }
            // A part may be made, and what is there is taken as it is.
            switch record.action {
            case .delete, .move:
                try tx.scan.add(ScanJob(path: record.path, isWhole: true))
                tx.noteFoldersLeft()
            default: break
            }
            try context.records.deschedule(record, in: tx)
            context.logger.notice("The action \(record.action.kind.rawValue) of \(record.path) is cancelled")
            return RecordOutcome(record: job.id, resolution: .ended)
        }
    }

    /// Takes back the later deletions of what a copy was to copy, and keeps its later versions here: nobody knows whether
    /// the copy is whole.
    private func spareSource() async throws {
        try await context.database.write { [self] tx in
            guard let record = try tx.journal.record(id: job.id), case .copy(let source) = record.action else { return }
            try context.takeBack.rewriteQueue(behind: record, nil, sparing: source, in: tx)
        }
    }

    private func askAgain(_ digest: String) async throws -> RecordOutcome {
        let now = context.waitTime()
        let until = now + ChangeDelay.cancelledStillness
        return try await context.database.write { [self] tx in
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
                    .failed, "\(name) is being cancelled, and the server is asked what it has made of it")
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

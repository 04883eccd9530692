import Connection
import Database
import LocalTree
import Logging
import Model

/// A change on its way: asks the server, and has the result recorded.
struct ChangeRun<Action: ChangeAction>: Sendable {
    let action: Action
    /// The change, with its record as it was before it was marked as sent.
    var job: Job

    var context: ActionContext { action.context }

    init(_ action: Action, _ job: Job) { (self.action, self.job) = (action, job) }

    /// Marks the record as sent, and carries the change out.
    func start() async throws -> ChangeOutcome {
        let begun = try await context.database.writeTogether { [context, job] tx in
            try context.records.begin(job, in: tx)
        }
        guard let begun else { return .resolved(RecordOutcome(record: job.id, resolution: .stale)) }
        var run = self
        run.job.record = begun
        return try await run.goOn()
    }

    /// Carries out a change whose record is marked as sent.
    func goOn() async throws -> ChangeOutcome {
        let result: Result<ChangeResult<Action.Effect>, any Error>
        do {
            switch try await ask() {
            case .answered(let answer): result = .success(answer)
            case .cancelled(let outcome):
                await context.snapshots.removeSpent()
                return .resolved(outcome)
            }
        } catch {
            result = .failure(error)
        }
        return try await conclude(result)
    }

    /// Records what the change has come to.
    /// - Parameter result: The result, or what the request has thrown.
    func conclude(_ result: Result<ChangeResult<Action.Effect>, any Error>) async throws -> ChangeOutcome {
        let answer: ChangeResult<Action.Effect>
        do { answer = try result.get() } catch let failure as Failure where failure.kind == .localIO {
            return .failed(.disk(failure))
        } catch let error as Failure where error.kind == .internal {
            throw error
        } catch {
            let question = error as? FailedQuestion
            let mayHaveArrived = question?.followsRequest ?? (error as? ConnectionError)?.mayHaveArrived ?? true
            if !mayHaveArrived, !job.record.mayHaveArrived { try await unsend() }
            if let question { return .failed(FetchFailure(question)) }
            return .failed(FetchFailure(error, received: nil, gained: false))
        }
        // A listing that began before the change still shows the state before.
        context.callbacks.tell(.changed(job.record.changedPlaces))
        let outcome: ChangeOutcome =
            switch answer {
            case .made(let effect): try await action.conclude(job, made: effect)
            case .unmade(let change): .resolved(try await record(change))
            }
        // A rule may have given up the upload of a snapshot.
        await context.snapshots.removeSpent()
        return outcome
    }

    /// Records that no request for the record has reached the server.
    private func unsend() async throws {
        try await context.database.writeTogether { [job] tx in
            guard var record = try tx.journal.record(id: job.id) else { return }
            record.mayHaveArrived = false
            record.evidence.noteDecided()
            try tx.journal.update(record)
        }
    }

    private func record(_ change: UnmadeChange) async throws -> RecordOutcome {
        try await context.database.writeTogether { [self] tx in
            guard var record = try tx.journal.record(id: job.id) else {
                return RecordOutcome(record: job.id, resolution: .ended)
            }
            switch change {
            case .uncertain(let failure, let code, let seen, let wasTaken):
                return try checkAgain(record, failure, code, seen: seen, wasTaken: wasTaken, in: tx)
            case .conflict(let failure, let found, let isSure):
                try tx.noteDecided(&record)
                // The answer, a person's or a rule's, is about this version.
                record.evidence.isCancelled = nil
                record.evidence.asked = ChangeEvidence.SeenVersion(found)
                try tx.journal.update(record)
                return try action.answerConflict(job, record, isSure: isSure, in: tx)
                    ?? context.failures.resolve(job, .ask(.conflict), because: failure, in: tx)
            case .refused(let failure, let code, let seen):
                try tx.noteDecided(&record)
                record.evidence.isCancelled = nil
                record.evidence.observation = seen.map {
                    ChangeEvidence.Observation(digest: $0, since: context.waitTime())
                }
                try tx.journal.update(record)
                return try context.failures.resolve(job, .ask(code), because: failure, in: tx)
            case .waits(let failure, let delay):
                try tx.noteDecided(&record)
                let longer = SyncEngine.longBackoff.delay(afterFailures: record.rounds + 1)
                let until = context.waitTime() + (delay ?? longer)
                if delay == nil {
                    record.rounds += 1
                    try tx.journal.update(record)
                }
                return try context.failures.resolve(
                    job, .wait(until: until, attempts: record.attempts), because: failure, in: tx)
            }
        }
    }

    /// Has a change be checked again whose effect the server does not show. What touches its places waits.
    private func checkAgain(
        _ found: SyncRecord, _ failure: Failure, _ code: IssueCode, seen: String, wasTaken: Bool, in tx: Transaction
    ) throws -> RecordOutcome {
        var record = found
        let now = context.waitTime()
        record.mayHaveArrived = true
        if wasTaken { record.evidence.wasTaken = true }
        if record.evidence.observation?.digest != seen {
            record.evidence.observation = ChangeEvidence.Observation(digest: seen, since: now)
        }
        let since = record.evidence.observation?.since ?? now
        // An earlier time of the clock says nothing.
        let isStill = now - since >= ChangeDelay.longestStillness || since > now
        try tx.journal.update(record)
        guard !isStill else { return try context.failures.resolve(job, .ask(code), because: failure, in: tx) }
        let pause = min(Duration.seconds(1) * (1 << min(record.attempts, 10)), ChangeDelay.longestCheckPause)
        return try context.failures.resolve(
            job, .wait(until: now + pause, attempts: record.attempts + 1), because: failure, in: tx)
    }
}

extension ChangeAction {
    /// Carries a change out.
    func carryOut(_ job: Job) async throws -> ChangeOutcome { try await ChangeRun(self, job).start() }
}

import Connection
import Database
import LocalTree
import Logging
import Model

/// What follows from the failures of records.
struct FailureRules: EnginePart {
    let context: ActionContext

    /// The longest time that a record waits for its folder to be listed again, for the case that the host ends before
    /// the listing.
    private static let longestRelistWait = Duration.seconds(60)
    /// The number of failing downloads that the log tells of one by one.
    private static let mostToldFailures = 10

    /// Decides what follows from a failure of a record.
    func decision(
        _ decision: RetryDecision, of job: Job, after failure: FetchFailure, in tx: Transaction
    ) throws -> RetryDecision {
        guard job.record.action.kind.changesServer else {
            return try DownloadAction(context).decision(decision, of: job, after: failure, in: tx)
        }
        if case .question(let question, _) = failure {
            let most =
                question.kind == .protocolViolation
                ? RetryDecision.mostSenselessAnswers : RetryDecision.mostFailedQuestions
            guard job.record.attempts >= most else { return decision }
            return .ask(job.record.action.kind == .upload ? .upload : .uncertain)
        }
        return switch decision {
        case .ask, .relist, .hold, .retry: .ask(job.record.action.kind == .upload ? .upload : .change)
        case .wait, .putBack: decision
        }
    }

    /// Records what follows from a failure.
    func resolve(
        _ job: Job, _ decision: RetryDecision, because failure: Failure, in tx: Transaction
    ) throws -> RecordOutcome {
        guard var journal = try tx.journal.record(id: job.id) else {
            return RecordOutcome(record: job.id, resolution: .ended)
        }
        let level = try logLevel(of: decision, about: journal, in: tx)
        journal.state = .ready
        journal.landing = nil
        var resolution = RecordOutcome.Resolution.waits(until: nil)
        switch decision {
        case .wait(let wish, let attempts):
            let until = min(wish, waitTime() + SyncEngine.longestWait)
            journal.wait = .until(until)
            journal.attempts = attempts
            resolution = .waits(until: until)
        case .relist(let rounds):
            journal.wait = .newVersion(since: job.version, until: waitTime() + Self.longestRelistWait)
            journal.rounds = rounds
            resolution = .relist(job.path.parent)
        case .retry(let wish, let attempts):
            let issue = try ask(.retry, about: job, because: failure, in: tx)
            journal.attempts = attempts
            // The folder is listed again once between two tries.
            journal.rounds = min(journal.rounds, RetryDecision.mostRounds - 1)
            if let item = try tx.items.item(localID: journal.localID), Job(journal, item: item).isOther(than: job) {
                // The item was listed meanwhile.
                resolution = .stale
            } else {
                let until = min(wish, waitTime() + SyncEngine.longestWait)
                journal.wait = .retry(at: until, issue.id)
                resolution = .waits(until: until)
            }
        case .ask(let code):
            journal.attempts += 1
            journal.wait = .issue(try ask(code, about: job, because: failure, in: tx).id)
        case .hold(let wait):
            journal.wait = wait
            resolution = .stale
        case .putBack: resolution = .putBack
        }
        try tx.journal.update(journal)
        logger.log(
            level: level, "The action \(job.record.action.kind.rawValue) of \(job.path) failed: \(failure.message)")
        return RecordOutcome(record: job.id, resolution: resolution, failure: failure)
    }

    /// Returns the level of the line about a failure. What fails again and again, or like many others, is told by issues.
    private func logLevel(
        of decision: RetryDecision, about record: SyncRecord, in tx: Transaction
    ) throws -> Logger.Level {
        switch decision {
        case .ask, .hold, .putBack: return .info
        case .wait, .relist: return record.attempts + record.rounds == 0 && record.action != .download ? .info : .debug
        case .retry:
            let isNews = record.attempts < RetryDecision.longestRow
            return try isNews && tx.issues.count(code: IssueCode.retry.rawValue) < Self.mostToldFailures
                ? .info : .debug
        }
    }

    func ask(_ code: IssueCode, about job: Job, because failure: Failure, in tx: Transaction) throws -> Issue {
        try tx.issues.file(
            Issue(
                record: job.id, code: code.rawValue, subject: job.path.text, message: failure.message,
                choices: code.choices, created: clock.now(), failure: failure.kind))
    }

    /// Lets the records go on whose folders were listed again. Records for which the listing showed nothing new wait, a
    /// little longer each time.
    func endRelisting(_ records: [SyncRecordID]) async throws {
        try await database.write { [self] tx in
            let now = waitTime()
            _ = try tx.journal.endFulfilledWaits(now: now, longest: SyncEngine.longestWait)
            for id in records {
                guard var journal = try tx.journal.record(id: id), case .newVersion = journal.wait else {
                    continue
                }
                journal.wait = .until(now + SyncEngine.backoff.delay(afterFailures: journal.rounds))
                try tx.journal.update(journal)
            }
        }
    }

    /// Lets a removal wait for a move of its item: for a short time at first, and longer each time, since the move may
    /// fail.
    func waitForMove(_ job: Job, of item: Item, in tx: Transaction) throws -> RecordOutcome {
        let attempts = job.record.attempts + 1
        let until = waitTime() + SyncEngine.backoff.delay(afterFailures: attempts)
        let failure = Failure(.failed, "\(item.path) is being moved")
        return try resolve(job, .wait(until: until, attempts: attempts), because: failure, in: tx)
    }

    /// As ``SyncEngine/reportAccount(_:)``.
    func reportAccount(_ failure: Failure) async throws {
        let isNew = try await database.write { [self] tx in
            let code = IssueCode.authentication
            let isNew = try tx.issues.issue(code: code.rawValue, subject: context.account) == nil
            try tx.issues.file(
                Issue(
                    code: code.rawValue, subject: context.account, message: failure.message, choices: code.choices,
                    created: clock.now(), failure: failure.kind))
            return isNew
        }
        if isNew { logger.error("\(failure.message)") }
        context.callbacks.tell(.accountRefused(failure))
    }
}

import Connection
import Database
import LocalTree
import Model
import Synchronization

extension EngineLoop {
    /// Handles what the workers brought.
    mutating func takeOutcomes(_ children: inout Children) {
        let outcomes = crew.takeOutcomes()
        // What a cancelled task brings back is no result.
        guard !Task.isCancelled else { return }
        for (job, result) in outcomes {
            if let result {
                fetched(job, result, &children)
            } else {
                // The journal is read again, perhaps once more.
                window.park(job.id)
                engine.controls.with { $0.isStale = true }
            }
        }
    }

    private mutating func fetched(_ job: Job, _ result: Result<Fetched, FetchFailure>, _ children: inout Children) {
        let wasCancelled = engine.controls.with { state in
            state.enders[job.id] = nil
            return state.cancelled.remove(job.id) != nil
        }
        switch result {
        case .success(let fetched):
            health.answered()
            window.freePlace(job.id)
            arrivals.append(fetched, now: engine.waitTime())
        case .failure where wasCancelled: ended(job.id)
        case .failure(let failure): failed(job, failure, &children)
        }
    }

    private mutating func failed(_ job: Job, _ failure: FetchFailure, _ children: inout Children) {
        let now = engine.waitTime()
        let hadAccount = !health.isAccountRefused
        health.failed(failure, record: job.id, now: now)
        if failure.isAnswer { health.answered() }
        let verdict = Verdict.of(
            failure, attempts: job.record.attempts, rounds: job.journal.rounds, serverIsWell: health.isWell, now: now,
            delay: { SyncEngine.backoff.delay(afterFailures: $0, retryAfter: $1) })
        window.freePlace(job.id)
        let isFirstRefusal = hadAccount && health.isAccountRefused
        children.addTask { [engine] in
            try await Self.onDisk(failing: { .unsettled($0, record: job.id) }) {
                if isFirstRefusal { try await engine.reportAccount(failure.failure) }
                return .settled(
                    try await engine.database.write { tx in
                        let verdict = try engine.verdict(verdict, of: job, after: failure, in: tx)
                        return try engine.settle(job, verdict, because: failure.failure, in: tx)
                    })
            }
        }
    }

    private mutating func ended(_ record: Int64) {
        window.finish(record)
        if isReading { endedWhileReading.insert(record) }
    }

    mutating func settled(_ settlement: Settlement) {
        engine.reasons.withLock { $0[settlement.record] = settlement.failure }
        switch settlement.fate {
        case .ended:
            engine.reasons.withLock { $0[settlement.record] = nil }
            ended(settlement.record)
        case .waits(nil): ended(settlement.record)
        case .waits(let until):
            window.park(settlement.record)
            wait(until: until)
        case .putBack:
            window.park(settlement.record)
            // The hold may have ended before this was written down; then nothing else has the journal read again.
            if health.hold == nil { engine.controls.with { $0.isStale = true } }
        case .relist(let folder):
            window.park(settlement.record)
            relisting[folder, default: []].append(settlement.record)
        case .stale:
            window.park(settlement.record)
            engine.controls.with { $0.isStale = true }
        }
    }
}

extension EngineLoop {
    /// Whether nothing is left that can go on within the patience of a single run.
    var isDrained: Bool {
        guard !isReading, !isLanding, !isRelisting else { return false }
        // News cannot be read either. What is here and cannot be completed is the next run's.
        if isDiskFailing, isLandingStuck, window.startedCount == placed.count + arrivals.files.count { return true }
        guard window.isIdle else { return false }
        if isDiskFailing { return true }
        let hasNews = engine.controls.with { $0.isStale || $0.hasNews || $0.isReset || $0.expectsMore }
        guard !hasNews, relisting.isEmpty, arrivals.isEmpty, placed.isEmpty, window.readyCount(.actions) == 0 else {
            return false
        }
        let limit = engine.waitTime() + SyncEngine.drainPatience
        if let hold = health.hold {
            return hold.until.map { $0 > limit } ?? true || health.holds >= SyncEngine.mostHoldsInDrain
        }
        guard engine.controls.with({ $0.isOnline }) else { return true }
        return isExhausted && window.readyCount == 0 && (nextWait.map { $0 > limit } ?? true)
    }

    /// What is left in the journal, and why.
    func outcome() async throws -> DrainOutcome {
        let (reasons, hold, isOnline) = (
            engine.reasons.withLock { $0 }, health.hold?.failure, engine.controls.with { $0.isOnline }
        )
        return try await engine.database.read { [only] reads in
            var outcome = DrainOutcome()
            outcome.failure = hold
            outcome.isOffline = !isOnline
            // A drain may follow each commit of a long pass: no more is read of the journal than is told.
            outcome.leftCount = try reads.journal.counts().values.reduce(0, +)
            if let only { outcome.leftCount = try only.count { try reads.journal.record(id: $0) != nil } }
            try reads.journal.each { journal in
                guard only?.contains(journal.id) ?? true else { return true }
                var failure = reasons[journal.id] ?? hold
                var issue: Model.Issue?
                if case .issue(let id) = journal.record.wait { issue = try reads.issues.issue(id: id) }
                if let issue { failure = Failure(issue.failure, issue.message) }
                let why = failure?.message ?? (isOnline ? journal.record.whyItWaits : "The server is not connected")
                outcome.left.append(
                    .init(
                        record: journal.id, path: journal.record.path, why: why,
                        failure: failure?.kind ?? (isOnline ? .failed : .unreachable), issue: issue?.id))
                return outcome.left.count < DrainOutcome.mostNamed
            }
            return outcome
        }
    }
}

extension SyncRecord {
    /// For when what made it wait was in an earlier run.
    fileprivate var whyItWaits: String {
        switch wait {
        case .until(let time): "It did not succeed and is tried again from \(time) on"
        case .place: "In its place lies what was there before, until vacuum removes it"
        case .newVersion, .issue, nil: "It waits"
        }
    }
}

import Connection
import Database
import LocalTree
import Logging
import Model
import Synchronization
import Threads

/// A run of the engine: carries out the effects of an ``EngineMachine``, and passes the results back to the machine.
///
/// The machine belongs to the one task that calls ``run(_:draining:only:with:)``. Long work runs in child tasks, whose
/// results come back as events. At most one child task at a time reads the journal, and at most one works in the tree.
/// An error that a child throws ends the run.
struct EngineRun {
    private enum Event: Sendable {
        case signalled
        /// The end of the gathering delay that follows the pool's signal.
        case gathered
        /// The end of a worker that has nothing more to do.
        case left
        /// The end of a batch.
        /// - Parameter wasTaken: Whether the source takes batches.
        case ended(BatchDownload, wasTaken: Bool)
        /// The end of a batch of uploads.
        case sent(BatchUpload)
        case happened(EngineMachine.Input)
    }

    private typealias Children = ThrowingTaskGroup<Event, any Error>

    private let engine: SyncEngine
    private let only: RecordSelection
    private let partners: SyncEngine.Partners
    private let pool: DownloadPool
    /// The batches of downloads under way.
    private var batches: [BatchDownload] = []
    /// The batches of uploads under way.
    private var uploads: [BatchUpload] = []
    /// The downloads of batches that have come to go on alone and are not marked as started.
    private var unmarkedAlone: Set<SyncRecordID> = []
    private var machine: EngineMachine

    /// The time that a download that has ended waits for others before the machine learns of them.
    private static let gathering = Duration.milliseconds(20)

    /// Runs the engine.
    /// - Parameter draining: Whether the run ends when nothing is left that can go on within
    ///   ``SyncEngine/longestDrainWait``. Otherwise the run only ends when the task is cancelled.
    static func run(
        _ engine: SyncEngine, draining: Bool, only: RecordSelection, with partners: SyncEngine.Partners
    ) async throws -> DrainOutcome {
        let downloads = max(1, engine.limits.downloads ?? Limits.mostByItself)
        var run = EngineRun(
            engine: engine, only: only, partners: partners,
            pool: DownloadPool(
                workers: downloads, threads: engine.downloadThreads.count,
                atOnce: { [source = engine.source] in source.downloadsAtOnce($0) }),
            machine: EngineMachine(limits: engine.limits))
        if !engine.controls.with({ $0.isTidy }) {
            for landing in try await engine.recover() { run.take(.recovered(landing)) }
        }
        engine.controls.with { $0.isTidy = false }
        try await withThrowingTaskGroup(of: Event.self) { children in
            defer { children.cancelAll() }
            run.listen(&children)
            run.gather(&children)
            while !Task.isCancelled {
                run.tell(&children)
                run.act(&children)
                run.tidy(&children)
                engine.waits.stand(run.standstill)
                let isDrained = run.isDrained
                engine.controls.setResting(isDrained)
                if draining, isDrained { return }
                guard let event = try await children.next() else { return }
                // The result of a cancelled task does not count.
                if !Task.isCancelled { run.handle(event, &children) }
            }
        }
        let isTidy = run.machine.isTidy && !Task.isCancelled
        engine.controls.with { $0.isTidy = isTidy }
        let (hold, lacksRoom) = (run.machine.health.hold?.failure, run.machine.lack != nil)
        return try await engine.outcome(only: only, hold: hold, lacksRoom: lacksRoom)
    }

    private mutating func take(_ input: EngineMachine.Input) {
        let wasHeld = machine.health.hold != nil
        machine.take(input, now: engine.waitTime())
        if !wasHeld, let hold = machine.health.hold {
            engine.logger.info("Downloads and changes wait: \(hold.failure.message)")
        }
    }

    // MARK: What happens

    private func listen(_ children: inout Children) {
        children.addTask { [signal = engine.controls.signal] in
            await signal.wait()
            return .signalled
        }
    }

    private func gather(_ children: inout Children) {
        children.addTask { [signal = pool.signal, clock = engine.clock] in
            await signal.wait()
            // The sleep ends early when the run ends.
            do { try await clock.sleep(Self.gathering) } catch { return .gathered }
            return .gathered
        }
    }

    private mutating func handle(_ event: Event, _ children: inout Children) {
        switch event {
        case .signalled: listen(&children)
        case .gathered: gather(&children)
        case .left: break
        case .ended(let batch, let wasTaken):
            take(batch, &children)
            batches.removeAll { $0 === batch }
            take(.batchEnded(wasTaken: wasTaken))
        case .sent(let batch):
            take(batch, &children)
            uploads.removeAll { $0 === batch }
        case .happened(let input):
            if case .fetched(let job, _) = input { unmarkedAlone.remove(job.id) }
            note(input)
            take(input)
        }
    }

    /// Keeps the reasons why records wait, for those who ask.
    private func note(_ input: EngineMachine.Input) {
        let outcomes: [RecordOutcome]
        switch input {
        case .recorded(let outcome), .changed(_, .resolved(let outcome)): outcomes = [outcome]
        case .removed(let removed): outcomes = removed
        case .landed(_, let outcome): outcomes = outcome.outcomes
        default: return
        }
        engine.reasons.withLock { reasons in
            for outcome in outcomes {
                if case .ended = outcome.resolution {
                    reasons[outcome.record] = nil
                } else {
                    reasons[outcome.record] = outcome.failure
                }
            }
        }
    }

    /// Tells the machine the flags that others set, and the outcomes that the workers delivered.
    private mutating func tell(_ children: inout Children) {
        for batch in batches {
            take(batch, &children)
            batch.goOn()
        }
        for batch in uploads { take(batch, &children) }
        take(
            .told(
                engine.controls.takeFlags(), treeAccess: engine.controls.treeAccess.state,
                hasUnmarked: pool.hasUnmarked || !unmarkedAlone.isEmpty || batches.contains(where: \.hasUnmarked),
                takesBatches: engine.source.takesBatches,
                uploads: .init(
                    small: engine.server.uploadsAtOnce(.small), large: engine.server.uploadsAtOnce(.large),
                    inBatches: engine.server.takesUploadBatches)))
        let outcomes = pool.takeOutcomes()
        // The result of a cancelled task does not count.
        guard !Task.isCancelled else { return }
        for (job, outcome) in outcomes {
            let wasCancelled = engine.takeEnder(of: job.id)
            if wasCancelled, case .failed = outcome {
                take(.fetched(job, .cancelled))
            } else {
                take(.fetched(job, outcome))
            }
        }
    }

    /// Takes the outcomes of a batch. Downloads that go on alone do so from here.
    private mutating func take(_ batch: BatchDownload, _ children: inout Children) {
        let outcomes = batch.takeOutcomes()
        guard !outcomes.isEmpty, !Task.isCancelled else { return }
        var taken: [EngineMachine.BatchOutcome] = []
        taken.reserveCapacity(outcomes.count)
        for outcome in outcomes {
            switch outcome {
            case .complete(let arrival): taken.append(.complete(arrival))
            case .returned(let record): taken.append(.returned(record))
            case .cancelled(let record): taken.append(.cancelled(record))
            case .goesOn(let file, let first):
                let record = batch.batch.entries[file].record
                taken.append(.goesOn(record, concernsAll: first?.concernsAll ?? false))
                let thread = engine.downloadThreads[0]
                unmarkedAlone.insert(record)
                children.addTask(executorPreference: thread) { [engine, pool, batch = batch.batch] in
                    defer { pool.leavePlace() }
                    return try await Self.onDisk(failing: { _ in .batched([.returned(record)]) }) {
                        guard
                            let (job, outcome) = try await DownloadAction(engine).goOn(file, of: batch, after: first)
                        else { return .gone(record) }
                        return .fetched(job, outcome)
                    }
                }
            }
        }
        take(.batched(taken))
    }

    /// Takes the outcomes of a batch of uploads. Those that go on alone do so from here.
    private mutating func take(_ batch: BatchUpload, _ children: inout Children) {
        let outcomes = batch.takeOutcomes()
        // The result of a cancelled task does not count.
        guard !Task.isCancelled else { return }
        for outcome in outcomes {
            switch outcome {
            case .changed(let job, let outcome):
                note(.changed(job, outcome))
                take(.changed(job, outcome))
            case .goesOn(let job, let first):
                if first?.concernsAll == true { take(.uploadGoesOn(job.id)) }
                children.addTask { [engine] in
                    try await Self.onDisk(failing: { .changed(job, .failed(.disk($0))) }) {
                        .changed(job, try await ChangeRun(UploadAction(engine, after: first), job).goOn())
                    }
                }
            }
        }
    }

    /// Returns the records under way that must be marked as started. Returns each record once.
    private mutating func takeUnmarked() -> [SyncRecordID] {
        defer { unmarkedAlone = [] }
        return pool.takeUnmarked() + batches.flatMap { $0.takeUnmarked() } + unmarkedAlone
    }

    // MARK: What is done

    /// Has the server drop what it keeps of uploads that were given up. The run does not wait for that.
    private func tidy(_ children: inout Children) {
        guard engine.isOnline, engine.spentUploads.withLock({ !$0.isEmpty }) else { return }
        children.addTask { [engine] in
            await engine.terminateSpentUploads()
            return .left
        }
    }

    private mutating func act(_ children: inout Children) {
        while true {
            let effects = machine.decide(now: engine.waitTime())
            guard case .recall? = effects.first else {
                engine.controls.letStart()
                for effect in effects { carryOut(effect, &children) }
                return
            }
            take(.recalled(Array(pool.recall()), batched: batches.flatMap { $0.recall() }))
        }
    }

    private mutating func carryOut(_ effect: EngineMachine.Effect, _ children: inout Children) {
        switch effect {
        case .recall: break
        case .fetch(let jobs):
            for thread in pool.hand(jobs) {
                children.addTask(executorPreference: engine.downloadThreads[thread]) { [engine, pool] in
                    await DownloadAction(engine).download(for: pool, on: thread)
                    return .left
                }
            }
        case .fetchBatch(let batch):
            do throws(Failure) {
                let download = try BatchDownload(batch, engine, pool)
                batches.append(download)
                children.addTask { .ended(download, wasTaken: await download.run()) }
            } catch {
                // Alone, the downloads find out what is the matter with the disk.
                take(.batched(batch.entries.map { .returned($0.record) }))
                take(.batchEnded(wasTaken: false))
            }
        case .change(let jobs):
            let (batches, others) = BatchUpload.divide(jobs, engine)
            for jobs in batches {
                let batch = BatchUpload(jobs, engine, news: pool.signal)
                uploads.append(batch)
                children.addTask {
                    try await batch.run()
                    return .sent(batch)
                }
            }
            for job in others {
                children.addTask { [engine] in
                    let kind = job.record.action.kind
                    guard case .change(let action) = kind.type else {
                        throw Failure(.internal, "\(kind.rawValue) changes nothing on the server")
                    }
                    return try await Self.onDisk(failing: { .changed(job, .failed(.disk($0))) }) {
                        .changed(job, try await action.init(engine).carryOut(job))
                    }
                }
            }
        case .read(let request):
            let started = takeUnmarked()
            children.addTask { [engine, only, partners] in
                try await Self.onDisk(failing: EngineMachine.Input.unread) {
                    .read(try await engine.readJournal(request, started: started, only: only, with: partners))
                }
            }
        case .recordFailure(let job, let decision, let failure, let tellsOfAccount):
            children.addTask { [engine] in
                try await Self.onDisk(failing: { .unrecorded($0, record: job.id) }) {
                    if tellsOfAccount { try await engine.reportAccount(failure.failure) }
                    if case .unavailable = failure { engine.callbacks.unavailable() }
                    return .recorded(
                        try await engine.database.write { tx in
                            let decision = try engine.decision(decision, of: job, after: failure, in: tx)
                            return try engine.resolve(job, decision, because: failure.failure, in: tx)
                        })
                }
            }
        case .land(let batch, let completing):
            let started = takeUnmarked()
            children.addTask(executorPreference: engine.threads) { [engine, partners] in
                let outcome = try DownloadAction(engine).land(
                    batch, completing: completing, started: started, isCovered: partners.isCovered,
                    coverage: partners.coverageVersion)
                if outcome.hasUncovered { partners.cameUncovered() }
                return .happened(.landed(batch, outcome))
            }
        case .remove(let jobs):
            children.addTask(executorPreference: engine.threads) { [engine] in
                .happened(.removed(try engine.removeCopies(jobs)))
            }
        case .relist(let folders):
            children.addTask { [engine, partners] in
                for folder in folders.keys.sorted() { await partners.relist(folder) }
                let records = folders.values.flatMap { $0 }
                // If the end of the waits cannot be written down, they end by themselves.
                return try await Self.onDisk(failing: { _ in .relisted }) {
                    try await engine.endRelisting(records)
                    return .relisted
                }
            }
        case .measureRoom:
            children.addTask(executorPreference: engine.threads) { [engine] in
                .happened(.measured(left: engine.measureRoom().left))
            }
        case .grantTree: engine.controls.treeAccess.grant()
        case .wake(let time):
            children.addTask { [clock = engine.clock, now = engine.waitTime()] in
                // The sleep ends early when the run ends.
                do { try await clock.sleep(time - now) } catch { return .happened(.woke) }
                return .happened(.woke)
            }
        }
    }

    /// Runs a child task's work with the database. A failure of the disk becomes an input. Any other error ends the
    /// run.
    private static func onDisk(
        failing input: (Failure) -> EngineMachine.Input, _ body: () async throws -> EngineMachine.Input
    ) async throws -> Event {
        do { return .happened(try await body()) } catch let failure as Failure where failure.kind == .localIO {
            return .happened(input(failure))
        }
    }

    // MARK: The end

    private var standstill: Standstill {
        var standstill = machine.standstill(now: engine.waitTime())
        standstill.version = engine.controls.with { $0.toldVersion }
        return standstill
    }

    private var isDrained: Bool { machine.isDrained(now: engine.waitTime()) && !engine.controls.hasNewFlags }
}

extension SyncEngine {
    /// Notes that a download has ended, and can no longer be cancelled.
    /// - Returns: Whether it was cancelled.
    func takeEnder(of record: SyncRecordID) -> Bool {
        controls.with { state in
            state.enders[record] = nil
            return state.cancelled.remove(record) != nil
        }
    }

    /// Reads which records are left in the journal, and why.
    /// - Parameters:
    ///   - only: The records to describe.
    ///   - hold: The failure that holds up everything.
    ///   - lacksRoom: Whether downloads wait for room.
    func outcome(only: RecordSelection, hold: Failure?, lacksRoom: Bool) async throws -> DrainOutcome {
        let (reasons, isOnline) = (reasons.withLock { $0 }, isOnline)
        let noRoom = hold == nil && isOnline && lacksRoom ? noRoom : nil
        return try await database.read { reads in
            var outcome = DrainOutcome()
            outcome.failure = hold
            outcome.isOffline = !isOnline
            // A drain may follow each commit of a long pass. The journal is therefore read no further than the outcome
            // describes it.
            outcome.leftCount = try reads.journal.count()
            if outcome.leftCount > 0 {
                switch only {
                case .all: break
                case .these(let records, _):
                    outcome.leftCount = try records.count { try reads.journal.record(id: $0) != nil }
                case .after(let last): outcome.leftCount = try reads.journal.count(after: last)
                }
            }
            try reads.journal.each { journal in
                guard only.reports(journal.id) else { return true }
                // What else could go on has gone on when a run is over.
                let waitsForRoom = noRoom != nil && journal.action == .download && journal.wait == nil
                var failure = waitsForRoom ? noRoom : reasons[journal.id] ?? hold
                var issue: Model.Issue?
                if let id = journal.wait?.issue { issue = try reads.issues.issue(id: id) }
                if let issue { failure = Failure(issue.failure, issue.message) }
                let why =
                    try failure?.message
                    ?? (isOnline ? journal.whyItWaits(reads) : "The server is not connected")
                outcome.left.append(
                    .init(
                        record: journal.id, path: journal.path, why: why,
                        failure: failure?.kind ?? (isOnline ? .failed : .unreachable), issue: issue?.id,
                        waitsForRoom: waitsForRoom))
                return outcome.left.count < DrainOutcome.mostNamed
            }
            return outcome
        }
    }
}

extension SyncRecord {
    /// Returns the reason why the record waits, for a wait that began in an earlier run.
    fileprivate func whyItWaits(_ reads: ReadTransaction) throws -> String {
        switch wait {
        case .until(let time) where evidence.isCancelled == true:
            return "The action is being cancelled; the server is asked once more at \(time)"
        case .until(let time), .retry(let time, _): return "The last try failed; the next try is at \(time)"
        case .place: return "An old copy is in its place until vacuum removes it"
        case .newVersion, .issue, nil:
            let changes = try ([path] + (action.otherPath.map { [$0] } ?? [])).flatMap {
                try reads.journal.changes(atOrBelow: $0) + reads.journal.changes(above: $0)
            }
            guard let first = changes.filter({ $0.id < id }).min(by: { $0.id < $1.id }) else {
                return "The action waits"
            }
            let issue = first.wait?.issue.map { ", and waits for an answer to issue \($0)" } ?? ""
            return "The action waits for record \(first.id), which comes before it (\(first.action.kind.rawValue) of "
                + "\(first.path)\(issue))"
        }
    }
}

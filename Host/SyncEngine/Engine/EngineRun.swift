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

    private let context: ActionContext
    private let waits: RecordWaits
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
        _ context: ActionContext, _ waits: RecordWaits, draining: Bool, only: RecordSelection,
        with partners: SyncEngine.Partners
    ) async throws -> DrainOutcome {
        let downloads = max(1, context.limits.downloads ?? Limits.mostByItself)
        var run = EngineRun(
            context: context, waits: waits, only: only, partners: partners,
            pool: DownloadPool(
                workers: downloads, threads: context.downloadThreads.count,
                atOnce: { [source = context.source] in source.downloadsAtOnce($0) }),
            machine: EngineMachine(limits: context.limits))
        if !context.controls.with({ $0.isTidy }) {
            for landing in try await Recovery(context: context).recover() { run.take(.recovered(landing)) }
        }
        context.controls.with { $0.isTidy = false }
        try await withThrowingTaskGroup(of: Event.self) { children in
            defer { children.cancelAll() }
            run.listen(&children)
            run.gather(&children)
            while !Task.isCancelled {
                run.tell(&children)
                run.act(&children)
                run.tidy(&children)
                waits.stand(run.standstill)
                let isDrained = run.isDrained
                context.controls.setResting(isDrained)
                if draining, isDrained { return }
                guard let event = try await children.next() else { return }
                // The result of a cancelled task does not count.
                if !Task.isCancelled { run.handle(event, &children) }
            }
        }
        let isTidy = run.machine.isTidy && !Task.isCancelled
        context.controls.with { $0.isTidy = isTidy }
        let (hold, lacksRoom) = (run.machine.health.hold?.failure, run.machine.lack != nil)
        return try await LeftRecords(context: context).outcome(only: only, hold: hold, lacksRoom: lacksRoom)
    }

    private mutating func take(_ input: EngineMachine.Input) {
        let wasHeld = machine.health.hold != nil
        machine.take(input, now: context.waitTime())
        if !wasHeld, let hold = machine.health.hold {
            context.logger.info("Downloads and changes wait: \(hold.failure.message)")
        }
    }

    // MARK: What happens

    private func listen(_ children: inout Children) {
        children.addTask { [signal = context.controls.signal] in
            await signal.wait()
            return .signalled
        }
    }

    private func gather(_ children: inout Children) {
        children.addTask { [signal = pool.signal, clock = context.clock] in
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
        context.reasons.withLock { reasons in
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
                context.controls.takeFlags(), treeAccess: context.controls.treeAccess.state,
                hasUnmarked: pool.hasUnmarked || !unmarkedAlone.isEmpty || batches.contains(where: \.hasUnmarked),
                takesBatches: context.source.takesBatches,
                uploads: .init(
                    small: context.server.uploadsAtOnce(.small), large: context.server.uploadsAtOnce(.large),
                    inBatches: context.server.takesUploadBatches)))
        let outcomes = pool.takeOutcomes()
        // The result of a cancelled task does not count.
        guard !Task.isCancelled else { return }
        for (job, outcome) in outcomes {
            let wasCancelled = context.controls.takeEnder(of: job.id)
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
                let thread = context.downloadThreads[0]
                unmarkedAlone.insert(record)
                children.addTask(executorPreference: thread) { [context, pool, batch = batch.batch] in
                    defer { pool.leavePlace() }
                    return try await Self.onDisk(failing: { _ in .batched([.returned(record)]) }) {
                        guard
                            let (job, outcome) = try await DownloadAction(context).goOn(file, of: batch, after: first)
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
                children.addTask { [context] in
                    try await Self.onDisk(failing: { .changed(job, .failed(.disk($0))) }) {
                        .changed(job, try await ChangeRun(UploadAction(context, after: first), job).goOn())
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
        guard context.controls.isOnline, context.spentUploads.withLock({ !$0.isEmpty }) else { return }
        children.addTask { [context] in
            await context.snapshots.terminateUploads()
            return .left
        }
    }

    private mutating func act(_ children: inout Children) {
        while true {
            let effects = machine.decide(now: context.waitTime())
            guard case .recall? = effects.first else {
                context.controls.letStart()
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
                children.addTask(executorPreference: context.downloadThreads[thread]) { [context, pool] in
                    await DownloadAction(context).download(for: pool, on: thread)
                    return .left
                }
            }
        case .fetchBatch(let batch):
            do throws(Failure) {
                let download = try BatchDownload(batch, context, pool)
                batches.append(download)
                children.addTask { .ended(download, wasTaken: await download.run()) }
            } catch {
                // Alone, the downloads find out what is the matter with the disk.
                take(.batched(batch.entries.map { .returned($0.record) }))
                take(.batchEnded(wasTaken: false))
            }
        case .change(let jobs):
            let (batches, others) = BatchUpload.divide(jobs, context)
            for jobs in batches {
                let batch = BatchUpload(jobs, context, news: pool.signal)
                uploads.append(batch)
                children.addTask {
                    try await batch.run()
                    return .sent(batch)
                }
            }
            for job in others {
                children.addTask { [context] in
                    let kind = job.record.action.kind
                    guard case .change(let action) = kind.type else {
                        throw Failure(.internal, "\(kind.rawValue) changes nothing on the server")
                    }
                    return try await Self.onDisk(failing: { .changed(job, .failed(.disk($0))) }) {
                        .changed(job, try await action.init(context).carryOut(job))
                    }
                }
            }
        case .read(let request):
            let started = takeUnmarked()
            children.addTask { [context, only, partners] in
                try await Self.onDisk(failing: EngineMachine.Input.unread) {
                    .read(
                        try await JournalReader(context: context, only: only, partners: partners).read(
                            request, started: started))
                }
            }
        case .recordFailure(let job, let decision, let failure, let tellsOfAccount):
            children.addTask { [context] in
                try await Self.onDisk(failing: { .unrecorded($0, record: job.id) }) {
                    if tellsOfAccount { try await context.failures.reportAccount(failure.failure) }
                    if case .unavailable = failure { context.callbacks.unavailable() }
                    return .recorded(
                        try await context.database.write { tx in
                            let decision = try context.failures.decision(decision, of: job, after: failure, in: tx)
                            return try context.failures.resolve(job, decision, because: failure.failure, in: tx)
                        })
                }
            }
        case .land(let batch, let completing):
            let started = takeUnmarked()
            children.addTask(executorPreference: context.threads) { [context, partners] in
                let outcome = try DownloadAction(context).land(
                    batch, completing: completing, started: started, isCovered: partners.isCovered,
                    coverage: partners.coverageVersion)
                if outcome.hasUncovered { partners.cameUncovered() }
                return .happened(.landed(batch, outcome))
            }
        case .remove(let jobs):
            children.addTask(executorPreference: context.threads) { [context] in
                .happened(.removed(try CopyRemoval(context: context).remove(jobs)))
            }
        case .relist(let folders):
            children.addTask { [context, partners] in
                for folder in folders.keys.sorted() { await partners.relist(folder) }
                let records = folders.values.flatMap { $0 }
                // If the end of the waits cannot be written down, they end by themselves.
                return try await Self.onDisk(failing: { _ in .relisted }) {
                    try await context.failures.endRelisting(records)
                    return .relisted
                }
            }
        case .measureRoom:
            children.addTask(executorPreference: context.threads) { [context] in
                .happened(.measured(left: context.gauge.measure().left))
            }
        case .grantTree: context.controls.treeAccess.grant()
        case .wake(let time):
            children.addTask { [clock = context.clock, now = context.waitTime()] in
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
        var standstill = machine.standstill(now: context.waitTime())
        standstill.version = context.controls.with { $0.toldVersion }
        return standstill
    }

    private var isDrained: Bool { machine.isDrained(now: context.waitTime()) && !context.controls.hasNewFlags }
}

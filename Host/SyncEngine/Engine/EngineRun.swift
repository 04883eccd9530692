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
    enum Event: Sendable {
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

    typealias Children = ThrowingTaskGroup<Event, any Error>

    let context: ActionContext
    private let waits: RecordWaits
    let only: RecordSelection
    let partners: any EnginePartners
    let pool: DownloadPool
    /// The batches of downloads under way.
    var batches: [BatchDownload] = []
    /// The batches of uploads under way.
    var uploads: [BatchUpload] = []
    /// The downloads of batches that have come to go on alone and are not marked as started.
    private var unmarkedAlone: Set<SyncRecordID> = []
    var machine: EngineMachine

    /// The time that a download that has ended waits for others before the machine learns of them.
    private static let gathering = Duration.milliseconds(20)

    /// Runs the engine.
    /// - Parameter draining: Whether the run ends when nothing is left that can go on within
    ///   ``SyncEngine/longestDrainWait``. Otherwise the run only ends when the task is cancelled.
    static func run(
        _ context: ActionContext, _ waits: RecordWaits, draining: Bool, only: RecordSelection,
        with partners: any EnginePartners
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

    mutating func take(_ input: EngineMachine.Input) {
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
    mutating func takeUnmarked() -> [SyncRecordID] {
        defer { unmarkedAlone = [] }
        return pool.takeUnmarked() + batches.flatMap { $0.takeUnmarked() } + unmarkedAlone
    }

    // MARK: The end

    private var standstill: Standstill {
        var standstill = machine.standstill(now: context.waitTime())
        standstill.version = context.controls.with { $0.toldVersion }
        return standstill
    }

    private var isDrained: Bool { machine.isDrained(now: context.waitTime()) && !context.controls.hasNewFlags }
}

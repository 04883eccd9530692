import Connection
import Database
import LocalTree
import Logging
import Model
import Synchronization
import Threads

/// The carrying out of the machine's effects.
extension EngineRun {
    /// Has the server drop what it keeps of uploads that were given up. The run does not wait for that.
    func tidy(_ children: inout Children) {
        guard context.controls.isOnline, context.spentUploads.withLock({ !$0.isEmpty }) else { return }
        children.addTask { [context] in
            await context.snapshots.terminateUploads()
            return .left
        }
    }

    mutating func act(_ children: inout Children) {
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
        case .fetchBatch(let batch): fetch(batch, &children)
        case .change(let jobs): change(jobs, &children)
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
                    if case .unavailable = failure { context.callbacks.tell(.unavailable) }
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
                    batch, completing: completing, started: started, isCovered: partners.covers,
                    coverage: { partners.coverageVersion })
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

    private mutating func fetch(_ batch: DownloadBatch, _ children: inout Children) {
        do throws(Failure) {
            let download = try BatchDownload(batch, context, pool)
            batches.append(download)
            children.addTask { .ended(download, wasTaken: await download.run()) }
        } catch {
            // Alone, the downloads find out what is the matter with the disk.
            take(.batched(batch.entries.map { .returned($0.record) }))
            take(.batchEnded(wasTaken: false))
        }
    }

    private mutating func change(_ jobs: [Job], _ children: inout Children) {
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
    }

    /// Runs a child task's work with the database. A failure of the disk becomes an input. Any other error ends the
    /// run.
    static func onDisk(
        failing input: (Failure) -> EngineMachine.Input, _ body: () async throws -> EngineMachine.Input
    ) async throws -> Event {
        do { return .happened(try await body()) } catch let failure as Failure where failure.kind == .localIO {
            return .happened(input(failure))
        }
    }
}

import Connection
import Database
import ItemList
import ItemPolicies
import LocalTree
import Model
import SyncEngine
import Synchronization
import Threads
import Vault

extension AccountHost {
    /// Brings everything up to date once: connects, lists, runs the processors, and works until nothing is left that
    /// can go on now. Work that would have to wait is left, and the outcome names it.
    ///
    /// Work that needs no server, such as removing copies that no policy covers any more, is done without a server too.
    /// - Parameter timeout: The longest time for the run; when it passes, the run ends with a failure that says so. Nil
    ///   sets no limit.
    /// - Returns: The outcome of the run.
    public func runOnce(timeout: Duration? = nil) async -> RunOutcome {
        let outcome = SharedOutcome()
        await work.begin()
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                do {
                    try await work(reportingTo: outcome)
                } catch is CancellationError {
                    return true
                } catch {
                    outcome.add(Failure(of: error))
                }
                return true
            }
            if let timeout {
                group.addTask { [clock] in
                    do { try await clock.sleep(timeout) } catch { return true }
                    return false
                }
            }
            if await group.next() == false {
                outcome.add(
                    Failure(
                        .failed, "The run did not finish within its timeout",
                        hint: "The next run continues the remaining work")
                )
            }
            work.end()
            group.cancelAll()
        }
        await endWork()
        await writePolicyHistory()
        var result = outcome.value
        do {
            try await writePluginNotes()
            try await backUp()
            result.issues = try await database.read { try $0.issues.all() }
        } catch {
            result.add(Failure(of: error))
        }
        let progress = engine.progress
        (result.uploads, result.uploadedBytes) = (progress.filesSent, progress.bytesSent)
        result.files = max(0, progress.filesDone - progress.filesSent)
        result.bytes = max(0, progress.bytesDone - progress.bytesSent)
        result.changes = progress.changes
        (result.moves, result.calendarObjects, result.removed) = state.counts
        return result
    }

    private func work(reportingTo outcome: SharedOutcome) async throws {
        try await recover()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [policies] in await policies.run() }
            group.addTask { [self] in await process.watchPlugins() }
            group.addTask { [self] in try await keepLogBounded() }
            defer { group.cancelAll() }
            work.began()
            engine.expectMore(true)
            async let scanning = scanAndApplyPolicies(reportingTo: outcome)
            // Downloads begin while folders are still being listed.
            _ = try await engine.drain(with: partners)
            let facts = try await scanning
            var drained = try await drainToRest()
            // Lists the folders that changes made, such as the copy of a folder.
            while let facts, !drained.isOffline, tell({ $0.takeFoldersLeft() }) {
                try await scanRest(facts, reportingTo: outcome)
                drained = try await drainToRest()
            }
            for failure in policies.takeFailures() { outcome.add(failure) }
            outcome.add(drained)
        }
    }

    /// - Returns: The facts about the server; nil if it was not reached.
    private func scanAndApplyPolicies(reportingTo outcome: SharedOutcome) async throws -> ServerFacts? {
        defer { engine.expectMore(false) }
        var polled = ServerSession.Outcome()
        var reached: ServerFacts?
        do {
            let (facts, listing) = try await ListingRetry.trying(clock, upTo: 1) {
                try await connect {
                    ScanMode.next(isOwnCloudFamily: $0, history: $1, now: clock.now())
                }
            }
            async let loops = pollLoops()
            let scan = try await scanWithRetries(facts, listing)
            polled.failures = scan.failures
            for failure in scan.failures { outcome.add(failure) }
            if !scan.isComplete { try await passTime() }
            for failure in try await loops { outcome.add(failure) }
            try await keepServer()
            // Scans the folders in which event loops saw changes during the listing.
            tell { _ = $0.takeFoldersLeft() }
            if scan.isComplete {
                try await scanRest(facts, reportingTo: outcome)
                reached = facts
            }
        } catch let error as ConnectionError {
            outcome.add(error.failure)
            polled.unreached = error.failure
            try await passTime()
        }
        tell { [polled] in $0.endOnlyPoll(polled) }
        await policies.waitUntilIdle()
        return reached
    }

    /// Scans the folders that were left since the last scan, if there are any.
    private func scanRest(_ facts: ServerFacts, reportingTo outcome: SharedOutcome) async throws {
        guard try await database.read({ try !$0.scan.jobs().isEmpty }) else { return }
        let mode = try await nextMode(facts)
        for failure in try await scan(facts, mode == .whole ? .rest : mode).failures { outcome.add(failure) }
    }

    /// Scans, and lists only the failed folders again as long as the cause of their failure may pass within a moment.
    private func scanWithRetries(_ facts: ServerFacts, _ listing: BegunListing?) async throws -> ItemListUpdate.Outcome
    {
        let began = try await database.read { try $0.scanHistory().openWalk }
        let mode = try await nextMode(facts)
        var outcome = try await scan(facts, mode, root: facts.rootItem, listing: listing)
        // The remainder of a walk that is older than the interval says nothing new about the folders that the walk
        // listed before.
        if mode == .rest, !outcome.isCutOff, let began, clock.now() - began >= settings.walk {
            let folders = outcome.folders
            outcome = try await scan(facts, .whole)
            outcome.folders += folders
        }
        var tries = 0
        while let pause = outcome.pause(afterTries: tries) {
            try await clock.sleep(pause)
            let before = outcome
            let mode = try await nextMode(facts)
            outcome = try await scan(facts, mode == .whole ? .rest : mode) {
                before.failed[$0]?.isTransient == false
            }
            outcome.failed.merge(before.failed.filter { !$0.value.isTransient }) { $1 }
            tries = outcome.folders > 0 ? 0 : tries + 1
            outcome.folders += before.folders
            outcome.changed = outcome.changed || before.changed
        }
        return outcome
    }

    /// Runs the processors for a trigger that checks all items, and carries out what needs no server: copies are
    /// removed, downloads wait for the next run. Earlier work of that kind that was still waiting is done too.
    func runPoliciesAlone(_ trigger: Trigger) async throws -> RunOutcome {
        try await recover()
        let outcome = SharedOutcome()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [policies] in await policies.run() }
            group.addTask { [process] in await process.watchPlugins() }
            defer { group.cancelAll() }
            policies.fire(trigger)
            let drained = try await drainToRest()
            for failure in policies.takeFailures() { outcome.add(failure) }
            outcome.add(drained)
        }
        await writePolicyHistory()
        try await writePluginNotes()
        return outcome.value
    }

    /// Has the run in progress run the processors for a trigger that checks all items, and waits for the removals of
    /// copies that follow, and for those that earlier runs left.
    func runPoliciesAtWork(_ trigger: Trigger) async throws -> RunOutcome {
        // What is removed for its age is removed by the time now.
        try await checkClock()
        var outcome = RunOutcome()
        for failure in try await policies.fireAndWait(trigger) { outcome.add(failure) }
        // Another run may have just asked for what this run would have asked for.
        let removals = try await database.read { reads in
            var removals: Set<SyncRecordID> = []
            try reads.journal.eachRemoval(after: .none) { record in
                removals.insert(record.id)
                return true
            }
            return removals
        }
        let drained = try await engine.wait(for: removals)
        if let failure = drained.failure { outcome.add(failure) }
        outcome.leftCount = try await database.read { try $0.journal.count() }
        return outcome
    }

    /// Drains the engine until neither its results nor the processors' wishes start anything new.
    private func drainToRest() async throws -> DrainOutcome {
        while true {
            await policies.waitUntilIdle()
            // A plugin's request may have moved items.
            try await list.carryOutMoves()
            let before = try await database.read { try $0.journal.lastID() }
            let outcome = try await engine.drain(with: partners)
            await policies.waitUntilIdle()
            let (last, moves) = try await database.read { (try $0.journal.lastID(), try $0.moves.all().count) }
            guard last == before else { continue }
            // What was removed may have been in the way of a move, and a download may wait for the move.
            guard moves > 0 else { return outcome }
            try await list.carryOutMoves()
            if try await database.read({ try $0.moves.all().count }) == moves { return outcome }
        }
    }
}

extension ItemListUpdate.Outcome {
    /// Returns how long a run waits before it lists the failed folders once more; nil if it does not.
    fileprivate func pause(afterTries tries: Int) -> Duration? {
        let passing = failed.values.filter(\.isTransient)
        // A run does not wait for a server that is away.
        guard !isComplete, tries < 2, !passing.isEmpty,
            !passing.contains(where: { $0.kind == .maintenance || isCutOff && $0.kind == .unreachable })
        else { return nil }
        let wished = passing.compactMap(\.retryAfter).max() ?? .zero
        let pause = max(FolderRetries.pause(afterFailures: tries + 1), wished)
        return pause <= ListingRetry.longest ? pause : nil
    }
}

/// The outcome of a run, put together by the run's parts.
private final class SharedOutcome: Sendable {
    private let outcome = Mutex(RunOutcome())

    var value: RunOutcome { outcome.withLock { $0 } }

    func add(_ failure: Failure) { outcome.withLock { $0.add(failure) } }

    func add(_ drained: DrainOutcome) {
        outcome.withLock { outcome in
            outcome.left = drained.left.map { RunOutcome.Left(path: $0.path, why: $0.why) }
            outcome.leftCount = drained.leftCount
            if let failure = drained.failure { outcome.add(failure) }
            // An error that holds up everything, or that keeps the server away, is named once and not for each item. An
            // item with an issue is named by its issue, and so are those that wait for room.
            guard drained.failure == nil, !drained.isOffline else { return }
            for left in drained.left where left.issue == nil && !left.waitsForRoom {
                outcome.add(Failure(left.failure.ofOneItem, "\(left.path): \(left.why)"))
            }
        }
    }
}

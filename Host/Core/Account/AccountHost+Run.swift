import Connection
import Database
import EventLoops
import ItemList
import ItemPolicies
import LocalTree
import Logging
public import Model
import PluginHost
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// Keeps the account up to date until the task is cancelled; then stops gracefully and returns.
    /// - Throws: An error that makes going on impossible: `.localIO` if the database cannot be written or is damaged,
    ///   or if the folder of local copies is gone; `.failed` if a call into a plugin hangs for too long.
    public func run() async throws(Failure) {
        await work.begin()
        do {
            // The watch begins first, so that changes in the tree during the comparison are not missed.
            let watch = try await TreeWatch(self)
            let result = await work(watch)
            await watch.end()
            await endWork()
            try result.get()
        } catch is CancellationError {
            return await endWork()
        } catch {
            await endWork()
            throw Failure(of: error)
        }
    }

    /// Ends the commands that use the run. The next run tells the processors of changes of policies that this run did
    /// not tell them of. While the clock is not believed, the next process counts the time on from here.
    func endWork() async {
        work.end()
        let system = process.options.clock
        let passed = state.clock.passedUnbelieved(system.now(), system.monotonic())
        let owes = policies.owesPolicies
        guard owes || passed != nil else { return }
        do {
            try await Task(executorPreference: Workplace.single) { [database] in
                try await database.write { tx in
                    if owes { try tx.meta.set(.policiesChanged, 1) }
                    if let passed { try tx.meta.set(.clockPassed, passed.nanoseconds) }
                }
            }.value
        } catch { logger.warning("\(error)") }
    }

    private func work(_ watch: TreeWatch) async -> Result<Void, any Error> {
        do {
            try await restorePause()
            watch.recheck(try await recover())
            let end = try await database.read { try $0.meta.json(HeldLibraries.self, .heldLibraries) }?.nextEnd(
                after: clock.now())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [policies] in await policies.run() }
                group.addTask { [self] in await process.watchPlugins { self.heedSleep($0) } }
                group.addTask { [engine, partners] in try await engine.run(with: partners) }
                group.addTask { [self] in try await useNetwork() }
                group.addTask { try await watch.run() }
                group.addTask { await watch.keepChecking() }
                group.addTask { [loops] in await loops.run() }
                group.addTask { [self] in try await followSecret() }
                group.addTask { [self] in try await followMoves() }
                group.addTask { [self] in try await keepCalendarFiles() }
                group.addTask { [self] in try await keepPolicyHistory() }
                group.addTask { [self] in try await keepBackups() }
                group.addTask { [self] in try await keepPluginNotes() }
                group.addTask { [self] in try await keepLogBounded() }
                group.addTask { [state] in await state.reopenings.wait() }
                if let end { group.addTask { [self] in try await waitForLeftOut(until: end) } }
                work.began()
                defer { group.cancelAll() }
                // Each task ends only when it is cancelled or cannot go on.
                do { try await group.next() } catch {
                    work.end(because: error is CancellationError ? nil : Failure(of: error))
                    throw error
                }
                work.end()
            }
            await loops.suspend()
            await writePolicyHistory()
            return .success(())
        } catch {
            await loops.suspend()
            return .failure(error)
        }
    }

    /// Lets the tree follow the moves that plugins request, until the task is cancelled.
    private func followMoves() async throws {
        while true {
            await state.treeMoves.wait()
            try Task.checkCancellation()
            try await list.carryOutMoves()
        }
    }

    /// Polls the server, again and again.
    func poll() async throws {
        var facts: ServerFacts?
        var wish: Duration?
        var refusal: AuthenticationRetry?
        var walks = WalkPlan(interval: settings.walk)
        var isCalled = false
        var outage = Outage()
        let place = Monitor<AccountPlaces.Place?>(nil)
        while true {
            try Task.checkCancellation()
            let poll = state.polls.change { $0.begin() }
            var outcome = Polls.Outcome()
            if state.isRefused {
                // While the server rejects the credentials, no request is sent. When a new attempt is allowed,
                // everything begins anew.
                (facts, isCalled) = (nil, false)
                guard try await retries(&refusal) else {
                    try await passTime()
                    state.polls.change { [failure = offlineFailure] in $0.end(poll.number, .init(unreached: failure)) }
                    place.change { $0 = nil }
                    try await waitForSecret(refusal)
                    continue
                }
            }
            if let secret = state.offeredSecret {
                (facts, isCalled) = (nil, false)
                await use(secret)
            }
            var interval: Duration?
            do {
                var (root, listing): (ListedItem?, BegunListing?)
                if facts == nil {
                    let found: ServerFacts
                    (found, listing) = try await connect { [walks] isFamily, history in
                        walks.mode(isFamily: isFamily, history, time: clock.now(), at: clock.monotonic())
                    }
                    (facts, root) = (found, found.rootItem)
                    if outage.ends() { logger.notice("The server answers again") }
                    if found.isOwnCloudFamily { wish = try await connection.pollWish() }
                    try await keepServer()
                    await loops.start()
                }
                if let found = facts {
                    (interval, outcome.failures, walks) = try await inOwnTask {
                        [self, root, listing, walks, isCalled] in
                        try await scan(found, root, listing, walks, isCalled: isCalled, walksAll: poll.walks)
                    }
                    refusal = nil
                    try await keepServer()
                    // Without files no listing shows whether the server is there; and the facts about the server grow
                    // old.
                    if !found.hasFiles || !(connection.known?.isRecent(for: bookmark, now: clock.now()) ?? false) {
                        facts = nil
                    }
                }
            } catch let error as CutOffScan {
                try Task.checkCancellation()
                // The scan's failures are in the log. The host searches for the server again, soon.
                (facts, walks) = (nil, error.walks)
                outcome.unreached = error.failure
                if error.isUnavailable {
                    interval = PollInterval.standard
                    await loops.suspend()
                    try await setOffline(.unavailable, because: error.failure.message)
                }
                if let refusal = connection.refusal {
                    state.refuse(refusal.failure)
                } else {
                    try await distrustServer()
                }
                try await passTime()
            } catch let error as ConnectionError {
                try Task.checkCancellation()
                if outage.begins(with: error) {
                    logger.warning("\(error.message)", metadata: error.hint.map { ["hint": .stringConvertible($0)] })
                }
                facts = nil
                outcome.unreached = error.failure
                if error.isUnavailable { interval = PollInterval.standard }
                await loops.suspend()
                try await passTime()
            }
            // The next round ends the poll.
            if state.isRefused { continue }
            state.polls.change { [outcome] in $0.end(poll.number, outcome) }
            let pause = interval ?? PollInterval.next(configured: settings.poll, serverWish: wish)
            place.change { $0 = nil }
            let ending = try await wait(pause, poll: clock.now() + pause, taking: place)
            isCalled = ending == .scanRequest
            if ending == .passed { walks.paused() }
        }
    }

    /// The error of a scan that was cut off or did not even list the root.
    private struct CutOffScan: Error {
        /// Whether the server says that it cannot serve requests now.
        var isUnavailable: Bool
        var failure: Failure
        /// The plan of walks after the scan.
        var walks: WalkPlan
    }

    /// Scans according to the plan of walks.
    /// - Returns: The pause until the next scan; nil where folder ETags tell of changes below. The errors of the folders
    ///   that could not be listed. And the plan after the scan.
    private func scan(
        _ facts: ServerFacts, _ root: ListedItem?, _ listing: BegunListing?, _ walks: WalkPlan, isCalled: Bool,
        walksAll: Bool
    ) async throws -> (pause: Duration?, failures: [Failure], walks: WalkPlan) {
        let history = try await database.read { try $0.scanHistory() }
        let (time, now) = (clock.now(), clock.monotonic())
        let mode = walks.mode(
            isFamily: facts.isOwnCloudFamily, history, isCalled: walksAll || isCalled, time: time, at: now)
        let outcome = try await scan(facts, mode, root: root, listing: listing) { walks.waits($0, at: now) }
        let end = clock.monotonic()
        var walks = walks
        walks.ended(mode, outcome, walkBegan: history.openWalk, time: clock.now(), at: end)
        // If the root could not be listed, the server may be gone: the host searches for the server again, and the
        // status says what was found.
        if outcome.isCutOff || outcome.failed[.root] != nil {
            throw CutOffScan(
                isUnavailable: outcome.failed.values.contains(where: \.isUnavailable),
                failure: outcome.failures.first ?? Failure(.unreachable, "the server stopped answering"), walks: walks)
        }
        if !outcome.isComplete { try await passTime() }
        let pause = facts.isOwnCloudFamily && !history.etagsWereWrong ? nil : walks.pause(at: end)
        return (pause, outcome.failures, walks)
    }

    /// Tells whether to try again a server that has rejected the account's credentials. If the answer is no, everything
    /// that sends requests is paused when this function returns.
    private func retries(_ refusal: inout AuthenticationRetry?) async throws -> Bool {
        var refused = refusal ?? AuthenticationRetry()
        defer { refusal = refused }
        if refused.isTrying {
            refused.refused(mayPass: try await mayPass(), at: clock.monotonic())
            try await holdRequests(refused)
        }
        let (last, secret) = (state.secret, await readSecret())
        let isNew =
            secret.credentials != last.credentials || secret.writing != last.writing
            || secret.proxyLogin != last.proxyLogin
        guard refused.tries(hasNewSecret: isNew || state.isAnswered, at: clock.monotonic()) else { return false }
        state.retry(with: secret)
        connection.use(secret.credentials, proxyLogin: secret.proxyLogin)
        return true
    }

    /// Waits until the secret's source is to be checked again.
    private func waitForSecret(_ refusal: AuthenticationRetry?) async throws {
        let now = clock.monotonic()
        let end = min(now + PollInterval.standard, refusal?.nextTry ?? .seconds(Int64.max / 2))
        let next = refusal?.nextTry.map { clock.now() + ($0 - now) }
        // A file is checked more often, because the person who wrote it may be waiting for the effect.
        let last = state.secret.writing
        while case let left = end - clock.monotonic(), left > .zero {
            try await wait(last == nil ? left : min(left, .seconds(2)), poll: next)
            if state.isAnswered { return }
            if last != nil, await isWrittenAnew(since: last) { return }
        }
    }

    /// The ways in which a wait between two scans ends, the one that asks for most last.
    private enum WaitEnding: Int {
        /// The interval is over.
        case passed
        /// Folders were left for the next scan, which is due now.
        case foldersLeft
        /// A scan of everything was requested.
        case scanRequest
    }

    /// Closes what a poll has used, as soon as the processors have seen what it found. Connections to the server are kept
    /// if the next poll comes soon enough to use them. The place of an account that starts is left then: the accounts that
    /// start later need what this one does not use any more.
    /// - Parameter interval: The time until the next poll.
    private func endPoll(before interval: Duration) async throws {
        let closesConnections = interval > Connection.longestRest
        guard closesConnections || !state.place.isLeft else { return }
        try await policies.waitUntilIdleUnlessCancelled()
        if closesConnections { connection.closeIdle() }
        guard !state.place.isLeft else { return }
        await database.closeIdle()
        process.freedMemory.note(at: clock.monotonic())
        state.place.leave()
    }

    /// Waits for an interval, or until a scan is requested.
    /// - Parameters:
    ///   - interval: The time to wait.
    ///   - next: The time of the next poll, for the status; nil if it is not known.
    ///   - place: Gets a place among the accounts that poll, for which the account waits after the interval.
    @discardableResult
    private func wait(
        _ interval: Duration, poll next: Timestamp?, taking place: Monitor<AccountPlaces.Place?>? = nil
    ) async throws -> WaitEnding {
        try await database.write { tx in
            if let next { try tx.meta.set(.nextPoll, next) } else { try tx.meta.clear(.nextPoll) }
        }
        let began = clock.monotonic()
        let ending = try await withThrowingTaskGroup(of: WaitEnding?.self) { [clock, state] group in
            group.addTask { [process] in
                try await clock.sleep(interval)
                if let place {
                    let taken = try await process.polling.enter()
                    place.change { $0 = taken }
                }
                return .passed
            }
            group.addTask { await state.foldersLeft.wait() ? .foldersLeft : nil }
            group.addTask { await state.scanRequests.wait() ? .scanRequest : nil }
            group.addTask { [self] in
                try await endPoll(before: interval)
                return nil
            }
            var ending: WaitEnding?
            while ending == nil, let next = try await group.next() { ending = next }
            group.cancelAll()
            // A signal that another task received meanwhile must not be lost.
            while let result = await group.nextResult() {
                guard case .success(let other?) = result else { continue }
                ending = other.rawValue > (ending ?? .passed).rawValue ? other : ending
            }
            try Task.checkCancellation()
            return ending ?? .passed
        }
        // A server that pushes many hints is polled once a second.
        let rest = min(interval, .seconds(1)) - (clock.monotonic() - began)
        if ending != .passed, rest > .zero { try await clock.sleep(rest) }
        return ending
    }
}

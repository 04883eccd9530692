import Connection
import Database
import EventLoops
import ItemList
import ItemPolicies
import Logging
import Model
import SyncEngine
import Threads
import Vault

/// The driver of an account's ``ServerSession``: it carries out the steps of a run, one after the other.
extension AccountHost {
    /// What is known of the server.
    var session: ServerSession { state.session.with(\.self) }

    /// Tells the session something, and has the engine and the connection follow it.
    @discardableResult
    func tell<T: Sendable>(_ news: (inout ServerSession) -> T) -> T {
        defer { queries.serverChanged() }
        return state.session.change { session in
            let result = news(&session)
            // This happens under the session's lock, so that the last news is what both have.
            if engine.isOnline != session.letsEngineWork { engine.setOnline(session.letsEngineWork) }
            connection.isPaused = session.isPaused
            connection.isUnavailable = session.isUnavailable
            return result
        }
    }

    /// Has the database say whether the server can be used.
    /// - Parameter problem: The reason in words, if there is any.
    func noteSession(because problem: String? = nil) async throws {
        let connection = session.connection
        try await database.write { tx in
            try tx.meta.set(.connection, connection.rawValue)
            if let problem {
                try tx.meta.set(.connectionProblem, problem)
            } else {
                try tx.meta.clear(.connectionProblem)
            }
        }
    }

    /// Polls the server and heeds its hints until the task is cancelled. A pause ends both, and everything else that
    /// sends requests. After the pause all begins anew. It also begins anew when the machine has slept.
    func useServer() async throws {
        while let step = tell({ [clock] in $0.next(at: clock.monotonic()) }) {
            try Task.checkCancellation()
            switch step {
            case .stop(let changes): try await stop(changes)
            case .restPaused(let time, _): try await restPaused(step, for: time)
            case .endPause(let changes): try await endPause(ifUnchangedSince: changes)
            case .hold, .readSecret, .passTime, .restRefused, .use, .connect, .scan, .rest, .restBriefly:
                try await useNetwork(from: step)
            }
        }
    }

    /// Carries out the steps of an account that is not paused, beside its hints.
    private func useNetwork(from first: ServerSession.Step) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                var rounds = Rounds(host: self)
                var step: ServerSession.Step? = first
                while let next = step, next.usesNetwork {
                    try await rounds.carryOut(next)
                    try Task.checkCancellation()
                    step = tell { [clock] in $0.next(at: clock.monotonic()) }
                }
            }
            group.addTask { [self] in await heedHints() }
            group.addTask { [self] in
                try await state.session.waitUnlessCancelled { $0.isToStop }
                engine.stopDownloads()
            }
            defer { group.cancelAll() }
            // The others end only when they are cancelled or cannot go on.
            try await group.next()
        }
    }

    /// Stops everything that sends requests. Downloads that are under way go on later from where they are.
    private func stop(_ changes: Int) async throws {
        // A poll that was just connecting may have let downloads start.
        engine.stopDownloads()
        let isPaused = session.isPaused
        if isPaused { state.place.leave() }
        await loops.suspend()
        await connection.closeConnections()
        if isPaused {
            try await noteSession()
            try await database.write { try $0.meta.clear(.nextPoll) }
            tell { $0.stopped(since: changes) }
        } else {
            tell { $0.stopped(since: changes) }
            try await noteSession()
        }
    }

    private func restPaused(_ step: ServerSession.Step, for time: Duration) async throws {
        try await passTime()
        try await withThrowingTaskGroup(of: Void.self) { [clock, state] group in
            group.addTask { try await clock.sleep(time) }
            group.addTask {
                try await state.session.waitUnlessCancelled { $0.ends(step) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// The rounds of an account that is not paused.
private struct Rounds {
    let host: AccountHost
    /// The place among the accounts that poll, from the end of a rest to the end of the round.
    private let place = Monitor<AccountPlaces.Place?>(nil)
    /// The root and its listing, of a server that was found just now.
    private var begun: (root: ListedItem, listing: BegunListing?)?
    /// The next attempt of a rejected account, on both clocks.
    private var attempt: (next: Duration, time: Timestamp)?

    init(host: AccountHost) { self.host = host }

    mutating func carryOut(_ step: ServerSession.Step) async throws {
        // A listing that has begun is of use to the very next step alone.
        let begun = begun.take()
        switch step {
        case .stop, .restPaused, .endPause: break
        case .hold: try await host.holdRequests()
        case .readSecret:
            let secret = await host.readSecret()
            if host.tell({ [clock] in $0.tries(with: secret, at: clock.monotonic()) }) {
                host.connection.use(secret.credentials, proxyLogin: secret.proxyLogin)
            }
        case .passTime:
            try await host.passTime()
            host.tell { [clock] in $0.keepRejected(at: clock.monotonic()) }
        case .restRefused(let end, let nextTry, let checksSecret):
            // The time is computed once, so that what the status says does not change with each look at the secret.
            if attempt?.next != nextTry { attempt = nextTry.map { ($0, clock.now() + ($0 - clock.monotonic())) } }
            try await rest(step, for: max(end - clock.monotonic(), .zero), poll: attempt?.time)
            guard checksSecret else { return }
            let last = host.session.secrets.current.writing
            if await host.isWrittenAnew(since: last) { host.tell { $0.readSecretAgain() } }
        case .use(let secret): await host.use(secret)
        case .connect: try await poll { try await $0.connect() }
        case .scan(let facts): try await poll { try await $0.scan(facts, begun) }
        case .rest(let interval):
            if try await rest(step, for: interval, poll: clock.now() + interval, takes: place) {
                host.tell { $0.rested() }
            }
        case .restBriefly(let end):
            let time = max(end - clock.monotonic(), .zero)
            try await rest(step, for: time, poll: clock.now() + time)
        }
    }

    private var clock: HostClock { host.clock }

    /// Carries out a part of a round. If the part fails, the round ends.
    private mutating func poll(_ part: (inout Rounds) async throws -> Void) async throws {
        do { try await part(&self) } catch let error as ConnectionError {
            try Task.checkCancellation()
            // What is sent in the moment in which a pause begins fails because of the pause.
            guard !host.session.isToStop else { return }
            if host.tell({ $0.reports(error) }) {
                host.logger.warning("\(error.message)", metadata: error.hint.map { ["hint": .stringConvertible($0)] })
            }
            host.tell { $0.forgetFacts() }
            await host.loops.suspend()
            try await host.passTime()
            end(.init(unreached: error.failure), after: error.isUnavailable ? PollInterval.standard : nil)
        }
    }

    private mutating func connect() async throws {
        let (facts, listing) = try await host.connect { [host, clock] isFamily, history in
            host.session.scanMode(
                isFamily: isFamily, history, isFirst: true, time: clock.now(), at: clock.monotonic())
        }
        if host.tell({ $0.endsOutage() }) { host.logger.notice("The server answers again") }
        if facts.isOwnCloudFamily {
            let wish = try await host.connection.pollWish()
            host.tell { $0.take(wish: wish) }
        }
        try await host.keepServer()
        await host.loops.start()
        begun = (facts.rootItem, listing)
    }

    private func scan(_ facts: ServerFacts, _ begun: (root: ListedItem, listing: BegunListing?)?) async throws {
        let host = host
        let history = try await host.database.read { try $0.scanHistory() }
        let (time, now) = (clock.now(), clock.monotonic())
        let mode = host.session.scanMode(isFamily: facts.isOwnCloudFamily, history, time: time, at: now)
        let outcome = try await inOwnTask { [walks = host.session.walks] in
            try await host.scan(facts, mode, root: begun?.root, listing: begun?.listing) { walks.waits($0, at: now) }
        }
        let end = clock.monotonic()
        host.tell { [clock] in $0.scanned(mode, outcome, history, time: clock.now(), at: end) }
        // If the root could not be listed, the server may be gone: the host searches for the server again, and the
        // status says what was found.
        guard !outcome.isCutOff, outcome.failed[.root] == nil else { return try await endCutOff(outcome) }
        if !outcome.isComplete { try await host.passTime() }
        let interval = host.tell { $0.pause(afterScanOf: facts, history, at: end) }
        try await host.keepServer()
        // Without files no listing shows whether the server is there; and the facts about the server grow old.
        let isRecent = host.connection.known?.isRecent(for: host.bookmark, now: clock.now()) ?? false
        if !facts.hasFiles || !isRecent { host.tell { $0.forgetFacts() } }
        self.end(.init(failures: outcome.failures), after: interval)
    }

    /// Ends a round whose scan was cut off, or could not list the root. The scan's failures are in the log.
    private func endCutOff(_ outcome: ItemListUpdate.Outcome) async throws {
        try Task.checkCancellation()
        let failure = outcome.failures.first ?? Failure(.unreachable, "the server stopped answering")
        let isUnavailable = outcome.failed.values.contains(where: \.isUnavailable)
        host.tell { $0.cutOff(failure, isUnavailable: isUnavailable) }
        if isUnavailable {
            await host.loops.suspend()
            try await host.noteSession(because: failure.message)
        }
        if let refusal = host.connection.refusal {
            host.tell { $0.refuse(because: refusal.failure) }
        } else {
            try await host.distrustServer()
        }
        try await host.passTime()
        end(.init(unreached: failure), after: isUnavailable ? PollInterval.standard : nil)
    }

    private func end(_ outcome: ServerSession.Outcome, after interval: Duration?) {
        place.change { $0 = nil }
        host.tell { [clock] in $0.endRound(outcome, after: interval, at: clock.monotonic()) }
    }

    /// Waits for a time, or until the session has the step end.
    /// - Parameters:
    ///   - next: The time of the next poll, for the status; nil if it is not known.
    ///   - place: Gets a place among the accounts that poll, for which the account waits after the time.
    /// - Returns: Whether the step lasted until its end.
    @discardableResult
    private func rest(
        _ step: ServerSession.Step, for interval: Duration, poll next: Timestamp?,
        takes place: Monitor<AccountPlaces.Place?>? = nil
    ) async throws -> Bool {
        let (host, clock) = (host, clock)
        self.place.change { $0 = nil }
        try await host.database.write { tx in
            if let next { try tx.meta.set(.nextPoll, next) } else { try tx.meta.clear(.nextPoll) }
        }
        return try await withThrowingTaskGroup(of: Bool?.self) { group in
            group.addTask {
                try await clock.sleep(interval)
                if let place {
                    let taken = try await host.process.polling.enter()
                    place.change { $0 = taken }
                }
                return true
            }
            group.addTask {
                try await host.state.session.waitUnlessCancelled { $0.ends(step) }
                return false
            }
            group.addTask {
                try await host.endPoll(before: interval)
                return nil
            }
            defer { group.cancelAll() }
            while let next = try await group.next() { if let next { return next } }
            return false
        }
    }
}

extension AccountHost {
    /// Closes what a poll has used, as soon as the processors have seen what it found. Connections to the server are kept
    /// if the next poll comes soon enough to use them. The place of an account that starts is left then: the accounts that
    /// start later need what this one does not use any more.
    /// - Parameter interval: The time until the next poll.
    fileprivate func endPoll(before interval: Duration) async throws {
        let closesConnections = interval > Connection.longestRest
        guard closesConnections || !state.place.isLeft else { return }
        try await policies.waitUntilIdleUnlessCancelled()
        if closesConnections { connection.closeIdle() }
        guard !state.place.isLeft else { return }
        await database.closeIdle()
        process.freedMemory.note(at: clock.monotonic())
        state.place.leave()
    }

    /// Has the run in progress poll the server now, and waits for the outcome of that poll.
    /// - Parameters:
    ///   - walks: Whether all folders are listed where ETags do not tell of changes.
    ///   - retries: Whether the server is asked although it has rejected the account.
    ///   - onlyLeft: Whether the folders suffice that were left for a scan.
    /// - Throws: `CancellationError` if the task is cancelled. The poll goes on then.
    func poll(
        walks: Bool = false, retries: Bool = false, onlyLeft: Bool = false
    ) async throws(CancellationError) -> ServerSession.Outcome {
        let (number, failure) = tell {
            ($0.ask(walks: walks, retries: retries, for: onlyLeft ? .foldersLeft : .everything), $0.failure)
        }
        guard let number else { return .init(unreached: failure) }
        try await state.session.waitUnlessCancelled { $0.hasAnswered(number) }
        return session.outcome
    }

    /// Has the run in progress find the server, unless it has found it already.
    /// - Throws: The reason why the server cannot be used; `CancellationError` if the task is cancelled.
    func reachAtWork() async throws {
        guard !session.isOnline else { return }
        if let failure = try await poll().unreached { throw failure }
    }

    /// Has everything that sends requests begin anew, since the machine has slept: what the server changed meanwhile is not
    /// known, and the server may have closed connections that still seem to be open.
    /// - Parameter slept: How long it slept.
    func heedSleep(_ slept: Duration) {
        logger.info("The machine slept for \(slept.components.seconds) s")
        tell { $0.interrupt() }
    }
}

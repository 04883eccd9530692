public import Connection
public import Database
public import EventScheduler
public import Logging
public import Model
public import PluginHost

/// An account's event loops at work: the scheduler together with the plugins, the database and the server.
///
/// The loops are read from local storage: a record in `calendars` or `shares` means a loop.
public final class EventLoops: Sendable {
    /// The functions that the loops call. They are called on any thread and must return at once.
    public struct Callbacks: Sendable {
        /// Called when the next scan has something to check and is due.
        public var requestScan: @Sendable () -> Void
        /// Called when the server rejected the account's credentials.
        public var refused: @Sendable () -> Void
        /// Called when the server rejected the credentials for a loop's requests, and not for the account's files.
        public var loopRefused: @Sendable () -> Void
        /// Stops a plugin that has no enabled loop, and ends its thread.
        public var stop: @Sendable (PluginInstance) async -> Void
        /// Starts a stopped plugin again; returns nil if that does not succeed.
        public var start: @Sendable (PluginInstance) async -> PluginInstance?
        /// Called when a turn changed records of these collections.
        public var recordsChanged: @Sendable (Set<RecordCollection>) -> Void

        /// Creates callbacks.
        public init(
            requestScan: @escaping @Sendable () -> Void, refused: @escaping @Sendable () -> Void,
            loopRefused: @escaping @Sendable () -> Void = {},
            stop: @escaping @Sendable (PluginInstance) async -> Void = { _ in },
            start: @escaping @Sendable (PluginInstance) async -> PluginInstance? = { $0 },
            recordsChanged: @escaping @Sendable (Set<RecordCollection>) -> Void
        ) {
            self.requestScan = requestScan
            self.refused = refused
            self.loopRefused = loopRefused
            self.stop = stop
            self.start = start
            self.recordsChanged = recordsChanged
        }
    }

    private let database: Database
    private let clock: HostClock
    let logger: Logger
    private let loopPlugins: [LoopKind: LoopPlugin]
    private let scheduler: EventsPeriodicScheduler
    private let committing: Committing
    /// A stream with an element when there is something to write to the database.
    private let turns: AsyncStream<Void>
    let reports: LoopReports

    /// Creates the event loops of an account. No loop is enabled yet.
    /// - Parameters:
    ///   - database: The account's database.
    ///   - connection: The connection to the account's server.
    ///   - plugins: The account's started plugins; those without event loops are skipped.
    ///   - limits: The longest durations of calls.
    ///   - removalGuard: The limits for removals from calendars without a person's confirmation; nil allows all
    ///     removals.
    ///   - clock: The account's clock.
    ///   - callbacks: The functions that the loops call.
    ///   - logger: The account's logger.
    public init(
        database: Database, connection: Connection, plugins: [PluginInstance],
        limits: LoopLimits = LoopLimits(), removalGuard: RemovalGuard? = RemovalGuard(), clock: HostClock = .system,
        callbacks: Callbacks, logger: Logger
    ) {
        self.database = database
        self.clock = clock
        self.logger = logger
        let loopPlugins = plugins.reduce(into: [LoopKind: LoopPlugin]()) { loopPlugins, instance in
            if let offer = instance.loops { loopPlugins[offer.kind] = LoopPlugin(instance, offer, callbacks) }
        }
        self.loopPlugins = loopPlugins
        let reports = LoopReports(plugins: loopPlugins.mapValues(\.plugin), clock: clock)
        self.reports = reports
        let committing = Committing(
            database: database, connection: connection, clock: clock, logger: logger,
            loopPlugins: loopPlugins, reports: reports, removalGuard: removalGuard, callbacks: callbacks)
        self.committing = committing
        let make: @Sendable (LoopKey, any LoopDelegate) -> PluginLoop? = { key, delegate in
            guard let loopPlugin = loopPlugins[key.kind], let instance = loopPlugin.instance else { return nil }
            return PluginLoop(
                key, loopPlugin.offer, of: instance, committing, limits, interval: loopPlugin.interval,
                gate: loopPlugin.gate,
                delegate: delegate)
        }
        let (turns, turn) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.turns = turns
        scheduler = EventsPeriodicScheduler(
            period: loopPlugins[.core]?.interval ?? .seconds(60), clock: clock,
            core: { key, delegate in
                guard let loop = make(key, delegate) else {
                    preconditionFailure("The core loop was enabled without its plugin.")
                }
                return loop
            }, special: { make($0, $1) },
            onTurn: { report in
                reports.add(report)
                Self.log(report, logger)
                turn.yield()
                if report.error?.kind == .unauthorized { callbacks.refused() }
                if report.error?.kind == .refused { callbacks.loopRefused() }
            })
    }

    /// Whether no plugin has event loops.
    public var isEmpty: Bool { loopPlugins.isEmpty }

    /// The loops that are polled.
    public var enabled: Set<LoopKey> {
        get async {
            let enabled = await scheduler.currentlyEnabled()
            return Set(enabled.special + [enabled.core].compactMap(\.self))
        }
    }

    /// Gives each loop of local storage its row, and enables the loops that nobody has disabled.
    /// - Parameter resting: Whether a loop for which the server offered nothing is not polled for a day.
    /// - Throws: As ``Database/write(_:)``. If only the check for plugins without an enabled loop failed, the loops are
    ///   enabled all the same.
    public func enable(resting: Bool = true) async throws {
        let loopPlugins = loopPlugins
        let (states, held) = try await database.write { tx in
            var wanted: Set<LoopKey> = []
            for (kind, loopPlugin) in loopPlugins.sorted(by: { $0.key < $1.key }) {
                var keys = [LoopKey(kind: kind, id: LoopID(kind.text))]
                if let collection = loopPlugin.offer.collection {
                    keys = []
                    try tx.records.each(in: collection, []) { record in
                        keys.append(LoopKey(kind: kind, id: LoopID(record.key.text)))
                        return true
                    }
                }
                for key in keys { try tx.loops.enrol(key, plugin: loopPlugin.plugin) }
                wanted.formUnion(keys)
            }
            // The record of a loop may have been removed while the loop's plugin was away.
            for state in try tx.loops.all() where loopPlugins[state.key.kind] != nil && !wanted.contains(state.key) {
                try tx.loops.remove(state.key)
                try tx.forgetIssues(of: state.key)
            }
            let held = try tx.issues.all(code: HeldRecords.code).map(\.subject)
            return (try tx.loops.all().filter { wanted.contains($0.key) }, held)
        }
        committing.setHeld(Set(states.map(\.key).filter { held.contains($0.description) }))
        reports.set(states)
        for state in states { await apply(state, resting: resting) }
        for kind in loopPlugins.keys { try await stopIfIdle(kind) }
    }

    /// Starts or stops a loop that was enabled or disabled.
    /// - Throws: As ``Database/read(_:)``. The loop is started or stopped all the same.
    public func follow(_ state: LoopState) async throws {
        await apply(state, resting: true)
        try await stopIfIdle(state.key.kind)
    }

    /// The loaded instances of plugins with loops, including those that were started again.
    public var instances: [PluginInstance] { loopPlugins.values.compactMap(\.instance) }

    private func apply(_ state: LoopState, resting: Bool) async {
        // A server that offers nothing is polled once a day, also across restarts.
        let now = clock.now()
        let rest = resting && state.lastResult == .notOffered ? state.nextPoll.map { $0 - now } : nil
        if state.isEnabled, await loopPlugins[state.key.kind]?.wake() != true { return }
        switch (state.isEnabled, state.key == .core) {
        case (true, true): await scheduler.enableCoreLoop(.core, rest: rest)
        case (true, false): await scheduler.enableSpecialLoop(state.key, rest: rest)
        case (false, true): await scheduler.disableCoreLoop()
        case (false, false): await scheduler.disableSpecialLoop(state.key)
        }
    }

    /// Stops a plugin if a person has disabled all its loops. Neither a thread nor a descriptor of the plugin is left.
    private func stopIfIdle(_ kind: LoopKind) async throws {
        let states = try await database.read { try $0.loops.all() }.filter { $0.key.kind == kind }
        guard !states.isEmpty, !states.contains(where: \.isEnabled) else { return }
        await loopPlugins[kind]?.rest()
    }

    /// Writes the results of turns to the database, until the task is cancelled.
    public func run() async {
        for await _ in turns {
            // The results of one refill are written together.
            do { try await clock.sleep(.milliseconds(200)) } catch { break }
            await flush()
        }
        await flush()
    }

    /// Starts polling: at once, and then at each interval. Called when the server can be reached.
    public func start() async {
        // Without a plugin that has loops no timer is needed.
        if !isEmpty { await scheduler.start() }
    }

    /// Stops polling. Called when the account is offline, disabled or about to stop. No request is in progress when
    /// this function returns.
    public func suspend() async {
        await scheduler.suspend()
        await flush()
    }

    /// Disables all loops and removes their event ids. Called when the account is removed.
    /// - Throws: As ``Database/write(_:)``. The loops are disabled then, but their event ids are left.
    public func logOut() async throws {
        try await scheduler.logout { [database] in try await database.write { try $0.loops.dropEventIDs() } }
    }

    /// Polls all loops until nothing is left to fetch, including loops that are added meanwhile.
    /// - Parameter wanted: The loops to poll; nil polls all.
    /// - Returns: The failures of the loops that failed and have not succeeded since, or that have more to fetch than
    ///   one run does.
    public func runOnce(only wanted: Set<LoopKey>? = nil) async -> [(loop: LoopKey, failure: Failure)] {
        reports.beginRun()
        await scheduler.runOnce(only: wanted)
        await flush()
        let left = await scheduler.leftByLastRun()
        let failures = reports.failures.map { ($0, $1.failure) }.filter { wanted?.contains($0.0) ?? true }
        return failures
            + left.filter { key in !failures.contains { $0.0 == key } }.map { key in
                (
                    key,
                    Failure(
                        .failed, "it has more to fetch than one run fetches",
                        hint: "The next run continues where this one ended")
                )
            }
    }

    /// Polls loops at once, while ``start()`` has them polled at their times, until nothing is left to fetch. This
    /// includes loops that rest because the server offered them nothing, and not those for which it asked to wait. The
    /// other loops are not disturbed. Only one call may be active at a time.
    /// - Parameter wanted: The loops to poll; nil polls all.
    /// - Returns: The failures, as ``runOnce(only:)``, and one for each loop that was not polled.
    public func pollNow(only wanted: Set<LoopKey>? = nil) async -> [(loop: LoopKey, failure: Failure)] {
        var polled = await enabled
        if let wanted { polled.formIntersection(wanted) }
        for key in polled {
            guard let state = reports.state(of: key), state.lastResult == .notOffered else { continue }
            await apply(state, resting: false)
        }
        let failures = await runOnce(only: wanted)
        let missed = await polled.intersection(enabled).subtracting(reports.polled)
        return failures
            + missed.subtracting(failures.map(\.loop)).sorted().map { key in
                let state = reports.state(of: key)
                let why = state?.lastError.map { ", since its last poll failed: \($0)" } ?? ""
                return (
                    key,
                    Failure(
                        .failed, "it was not polled now\(why)",
                        hint: state?.nextPoll.map { "It is polled again at \($0)" })
                )
            }
    }

    /// Whether the server rejects the account's credentials for the requests of loops, and not for the account's files.
    public var areRefused: Bool { reports.areUnauthorized }

    /// Polls, at once, the loops that declared one of the server's hints.
    public func hint(_ hints: HintSet) async {
        let kinds = loopPlugins.filter { !$0.value.offer.hints.isDisjoint(with: hints) }.keys
        guard !kinds.isEmpty else { return }
        let enabled = await scheduler.currentlyEnabled()
        if kinds.contains(.core) { await scheduler.triggerCoreLoop() }
        for key in enabled.special where kinds.contains(key.kind) { await scheduler.triggerSpecialLoop(key) }
    }

    /// Answers an issue about removals from calendars. After the answer to wait, the issue stays.
    /// - Returns: False if the issue is about something else.
    /// - Throws: `.badData` if the issue has no such choice, and as ``Database/write(_:)``.
    public func resolve(issue id: IssueID, choice: String) async throws -> Bool {
        guard let issue = try await database.read({ try $0.issues.issue(id: id) }), issue.code == HeldRecords.code
        else {
            return false
        }
        switch choice {
        case CalendarGuard.apply.id: try await committing.removeHeld(of: issue, telling: scheduler.delegate)
        case CalendarGuard.wait.id: break
        default:
            throw Failure(
                .badData, "\(choice) is not a choice of issue \(id)",
                hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
        }
        return true
    }

    /// Writes the results of the turns since the last call, in one transaction. It is written also when the task is
    /// cancelled: nothing else has these results.
    private func flush() async {
        let notes = reports.take()
        guard !notes.isEmpty else { return }
        let (database, now) = (database, clock.now())
        let writing = Task {
            try await database.write { tx in
                try tx.loops.note(notes.map(\.state))
                for note in notes { try tx.note(note.refusal, of: note.state, at: now) }
            }
        }
        do { try await writing.value } catch {
            let failure = error as? Failure
            logger.error(
                "The results of the event loops cannot be saved: \(failure?.message ?? "\(error)")",
                metadata: failure?.hint.map { ["hint": .stringConvertible($0)] })
        }
    }

    private static func log(_ report: TurnReport, _ logger: Logger) {
        var metadata: Logger.Metadata = [
            "loop": "\(report.loop)", "result": "\(report.result.rawValue)",
            "ms": "\(report.duration.nanoseconds / 1_000_000)",
        ]
        if let id = report.idBefore { metadata["from"] = "\(id)" }
        if let id = report.idAfter { metadata["to"] = "\(id)" }
        guard let error = report.error else { return logger.debug("loop turn", metadata: metadata) }
        // Only the first failure is a warning: repeated failures of a loop tell nothing new.
        let level: Logger.Level = report.failures <= 1 ? .warning : .debug
        logger.log(level: level, "The loop \(report.loop) failed: \(error.message)", metadata: metadata)
    }
}

extension EventLoopError {
    /// The error in the form that a person sees.
    var failure: Failure {
        if let error = cause as? ConnectionError { return error.failure }
        if let failure = cause as? Failure { return failure }
        if isOverQuota {
            return Failure(
                .failed, message,
                hint: "Raise `record-quota` for the plugin in the config; the loop then goes on where it was")
        }
        guard isRefusal else { return Failure(.failed, message) }
        return Failure(
            .denied, message,
            hint: "Check the account's permissions on the server; access to its files is not affected")
    }

    /// Whether the server refuses the loop's requests, and not the account as a whole.
    var isRefusal: Bool { kind == .refused || kind == .forbidden }

    /// Whether the records of the loop's plugin would take more than their quota.
    var isOverQuota: Bool { (cause as? LoopFailure)?.isOverQuota ?? false }
}

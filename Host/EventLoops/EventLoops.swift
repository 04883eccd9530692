public import Connection
public import Database
public import EventScheduler
public import Logging
public import Model
public import PluginHost

/// An account's event loops at work: the scheduler with the plugins, the database and the server.
///
/// Which loops there are is read from local storage: a record in `calendars` or `shares` means a loop.
public final class EventLoops: Sendable {
    /// Whom the loops tell. Called on any thread; they return at once.
    public struct Callbacks: Sendable {
        /// The next scan has something to look at, and is due.
        public var requestScan: @Sendable () -> Void
        /// The server refused the account's credentials.
        public var refused: @Sendable () -> Void
        /// The server refused them for what a loop asks, and not for the account's files.
        public var loopRefused: @Sendable () -> Void
        /// Stops a plugin none of whose loops is enabled, and ends its thread.
        public var stop: @Sendable (PluginInstance) async -> Void
        /// Starts one again that was stopped; nil if that does not succeed.
        public var start: @Sendable (PluginInstance) async -> PluginInstance?
        /// A turn changed records of these collections.
        public var recordsChanged: @Sendable (Set<RecordCollection>) -> Void

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
    /// Tells that there is something to write down.
    private let turns: AsyncStream<Void>
    let reports: LoopReports

    /// - Parameters:
    ///   - plugins: the account's, started; those without event loops are passed over.
    ///   - limits: how long a call may take.
    ///   - removalGuard: how much a turn may take from calendars without asking; nil: everything.
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

    /// Whether a plugin has loops at all.
    public var isEmpty: Bool { loopPlugins.isEmpty }

    /// What is polled.
    public var enabled: Set<LoopKey> {
        get async {
            let enabled = await scheduler.currentlyEnabled()
            return Set(enabled.special + [enabled.core].compactMap(\.self))
        }
    }

    /// Gives each loop of local storage its row, and enables those that nobody switched off.
    /// - Parameter resting: whether a loop of which the server offered nothing is left alone for a day.
    /// - Throws: As ``Database/write(_:)``. Where only the look for plugins that have nothing to do failed, the loops are
    ///   enabled.
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
            // What a loop was for may have gone while its plugin was away.
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

    /// A loop was switched on or off.
    /// - Throws: As ``Database/read(_:)``; the loop was switched all the same.
    public func follow(_ state: LoopState) async throws {
        await apply(state, resting: true)
        try await stopIfIdle(state.key.kind)
    }

    /// What is loaded of plugins with loops, those that were started again too.
    public var instances: [PluginInstance] { loopPlugins.values.compactMap(\.instance) }

    private func apply(_ state: LoopState, resting: Bool) async {
        // A server that offers nothing is asked once a day, over restarts.
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

    /// A plugin whose loops a person has all switched off is stopped: neither thread nor descriptor is left of it.
    private func stopIfIdle(_ kind: LoopKind) async throws {
        let states = try await database.read { try $0.loops.all() }.filter { $0.key.kind == kind }
        guard !states.isEmpty, !states.contains(where: \.isEnabled) else { return }
        await loopPlugins[kind]?.rest()
    }

    /// Writes down what turns come to, until the task is cancelled.
    public func run() async {
        for await _ in turns {
            // What a refill brings is written together.
            do { try await clock.sleep(.milliseconds(200)) } catch { break }
            await flush()
        }
        await flush()
    }

    /// The server can be reached: polls at once, and then at each interval.
    public func start() async {
        // Without a plugin that has loops there is nothing to keep time for.
        if !isEmpty { await scheduler.start() }
    }

    /// The account is offline, disabled or about to stop. Nothing is asked when this returns.
    public func suspend() async {
        await scheduler.suspend()
        await flush()
    }

    /// The account goes: no loop is left, and none knows how far it had come.
    /// - Throws: As ``Database/write(_:)``; no loop is left, but their event ids are.
    public func logOut() async throws {
        try await scheduler.logout { [database] in try await database.write { try $0.loops.dropEventIDs() } }
    }

    /// Polls every loop until nothing is left to fetch, also those that come meanwhile.
    /// - Parameter wanted: only these; nil: all.
    /// - Returns: why loops failed that did not succeed since, or were left with more to fetch.
    public func runOnce(only wanted: Set<LoopKey>? = nil) async -> [(loop: LoopKey, failure: Failure)] {
        reports.beginRun()
        await scheduler.runOnce(only: wanted)
        await flush()
        let left = await scheduler.leftByLastRun()
        let failures = reports.failures.map { ($0, $1.failure) }
        return failures
            + left.filter { key in !failures.contains { $0.0 == key } }.map { key in
                (
                    key,
                    Failure(
                        .failed, "it has more to fetch than one run does",
                        hint: "The next run goes on where this one ended")
                )
            }
    }

    /// Whether the server refuses the account's credentials for what loops ask, and not for its files.
    public var areRefused: Bool { reports.areUnauthorized }

    /// The server announced something: the loops that declared it are asked at once.
    public func hint(_ hints: HintSet) async {
        let kinds = loopPlugins.filter { !$0.value.offer.hints.isDisjoint(with: hints) }.keys
        guard !kinds.isEmpty else { return }
        let enabled = await scheduler.currentlyEnabled()
        if kinds.contains(.core) { await scheduler.triggerCoreLoop() }
        for key in enabled.special where kinds.contains(key.kind) { await scheduler.triggerSpecialLoop(key) }
    }

    /// Answers an issue about what calendars would lose. Told to wait, it stays.
    /// - Returns: false if the issue is about something else.
    /// - Throws: `.badData` if the choice is none of its, and as ``Database/write(_:)``.
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
                .badData, "\(choice) is no choice of issue \(id)",
                hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
        }
        return true
    }

    /// Writes down what turns came to since the last time, in one transaction.
    private func flush() async {
        let notes = reports.take()
        guard !notes.isEmpty else { return }
        let now = clock.now()
        do {
            try await database.write { tx in
                try tx.loops.note(notes.map(\.state))
                for note in notes { try tx.note(note.refusal, of: note.state, at: now) }
            }
        } catch {
            logger.error("The results of the event loops cannot be saved: \(error)")
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
        // Told once: a loop that goes on failing says nothing new.
        let level: Logger.Level = report.failures <= 1 ? .warning : .debug
        logger.log(level: level, "The loop \(report.loop) failed: \(error.message)", metadata: metadata)
    }
}

extension EventLoopError {
    /// The error as a person gets it.
    var failure: Failure {
        if let error = cause as? ConnectionError { return error.failure }
        if let failure = cause as? Failure { return failure }
        guard isRefusal else { return Failure(.failed, message) }
        return Failure(
            .denied, message, hint: "Check on the server what the account may do; its files are not concerned")
    }

    /// Whether the server refuses what the loop asks for, and not the account as a whole.
    var isRefusal: Bool { kind == .refused || kind == .forbidden }
}

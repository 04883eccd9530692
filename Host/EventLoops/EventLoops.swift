public import Connection
public import EventScheduler
public import Logging
public import Model
public import PluginHost
public import Storage
import Synchronization

/// An account's event loops at work: the scheduler with the plugins, the database and the server.
///
/// Which loops there are is read from local storage: a record in `calendars` or `shares` means a loop.
public final class EventLoops: Sendable {
    /// Whom the loops tell. Called on any thread; they return at once.
    public struct Callbacks: Sendable {
        /// The next scan has something to look at, and is due.
        public var look: @Sendable () -> Void
        /// The server refused the account's credentials.
        public var refused: @Sendable () -> Void
        /// A turn changed records of these collections.
        public var recordsChanged: @Sendable (Set<RecordCollection>) -> Void

        public init(
            look: @escaping @Sendable () -> Void, refused: @escaping @Sendable () -> Void,
            recordsChanged: @escaping @Sendable (Set<RecordCollection>) -> Void
        ) {
            self.look = look
            self.refused = refused
            self.recordsChanged = recordsChanged
        }
    }

    private struct Seat: Sendable {
        var instance: PluginInstance
        var offer: LoopOffer
        var gate: CallGate
    }

    private let database: Database
    private let clock: HostClock
    let logger: Logger
    private let seats: [LoopKind: Seat]
    private let scheduler: EventsPeriodicScheduler
    /// Tells that there is something to write down.
    private let turns: AsyncStream<Void>
    let reports: LoopReports

    /// - Parameters:
    ///   - plugins: the account's, started; those without event loops are passed over.
    ///   - interval: between two polls of a loop.
    ///   - limits: how long a call may take.
    public init(
        database: Database, connection: Connection, plugins: [PluginInstance], interval: Duration,
        limits: LoopLimits = LoopLimits(), clock: HostClock = .system, callbacks: Callbacks, logger: Logger
    ) {
        self.database = database
        self.clock = clock
        self.logger = logger
        let seats = plugins.reduce(into: [LoopKind: Seat]()) { seats, instance in
            if let offer = instance.loops {
                seats[offer.kind] = Seat(instance: instance, offer: offer, gate: CallGate())
            }
        }
        self.seats = seats
        let later = Later()
        let committing = Committing(
            database: database, connection: connection, clock: clock, logger: logger,
            offers: seats.values.reduce(into: [:]) { $0[$1.offer] = $1.instance.plugin }, callbacks: callbacks,
            change: { added, removed in
                for key in removed { await later.scheduler?.disableSpecialLoop(key) }
                for key in added { await later.scheduler?.enableSpecialLoop(key) }
            })
        let make: @Sendable (LoopKey) -> PluginLoop? = { key in
            seats[key.kind].map { PluginLoop(key, $0.offer, of: $0.instance, committing, limits, gate: $0.gate) }
        }
        let (turns, turn) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.turns = turns
        let reports = LoopReports(plugins: seats.mapValues(\.instance.plugin), clock: clock)
        self.reports = reports
        scheduler = EventsPeriodicScheduler(
            period: interval, clock: clock,
            core: { key in
                guard let loop = make(key) else { preconditionFailure("The core loop was enabled without its plugin.") }
                return loop
            }, special: { make($0) },
            onTurn: { report in
                reports.add(report)
                Self.log(report, logger)
                turn.yield()
                if report.error?.kind == .unauthorized { callbacks.refused() }
            })
        later.set(scheduler)
    }

    /// Whether a plugin has loops at all.
    public var isEmpty: Bool { seats.isEmpty }

    /// What is polled.
    public var enabled: Set<LoopKey> {
        get async {
            let enabled = await scheduler.currentlyEnabled()
            return Set(enabled.special + [enabled.core].compactMap(\.self))
        }
    }

    /// Gives each loop of local storage its row, and enables those that nobody switched off.
    /// - Parameter resting: whether a loop of which the server offered nothing is left alone for a day.
    public func enable(resting: Bool = true) async throws {
        let seats = seats
        let states = try await database.write { tx in
            var wanted: Set<LoopKey> = []
            for (kind, seat) in seats.sorted(by: { $0.key < $1.key }) {
                var keys = [LoopKey(kind: kind, id: LoopID(kind.text))]
                if let collection = seat.offer.collection {
                    keys = []
                    try tx.eachRecord(in: collection, []) { record in
                        keys.append(LoopKey(kind: kind, id: LoopID(record.key.text)))
                        return true
                    }
                }
                for key in keys { try tx.enrolLoop(key, plugin: seat.instance.plugin) }
                wanted.formUnion(keys)
            }
            // What a loop was for may have gone while its plugin was away.
            for state in try tx.loops() where seats[state.key.kind] != nil && !wanted.contains(state.key) {
                try tx.removeLoop(state.key)
            }
            return try tx.loops().filter { wanted.contains($0.key) }
        }
        reports.set(states)
        let now = clock.now()
        for state in states {
            // A server that offers nothing is asked once a day, over restarts.
            let rest = resting && state.lastResult == .notOffered ? state.nextPoll.map { $0 - now } : nil
            switch (state.isEnabled, state.key == .core) {
            case (true, true): await scheduler.enableCoreLoop(.core, rest: rest)
            case (true, false): await scheduler.enableSpecialLoop(state.key, rest: rest)
            case (false, _): await scheduler.disableSpecialLoop(state.key)
            }
        }
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
    public func logOut() async throws {
        try await scheduler.logout { [database] in try await database.write { try $0.dropAnchors() } }
    }

    /// Polls every loop until nothing is left to fetch, also those that come meanwhile.
    /// - Parameter wanted: only these; nil: all.
    /// - Returns: why loops failed that did not succeed since.
    public func runOnce(only wanted: Set<LoopKey>? = nil) async -> [(loop: LoopKey, failure: Failure)] {
        reports.beginRun()
        await scheduler.runOnce(only: wanted)
        await flush()
        return reports.failures.map { ($0, $1.failure) }
    }

    /// The server announced something: the loops that declared it are asked at once.
    public func hint(_ hints: HintSet) async {
        let kinds = seats.filter { !$0.value.offer.hints.isDisjoint(with: hints) }.keys
        guard !kinds.isEmpty else { return }
        let enabled = await scheduler.currentlyEnabled()
        if kinds.contains(.core) { await scheduler.triggerCoreLoop() }
        for key in enabled.special where kinds.contains(key.kind) { await scheduler.triggerSpecialLoop(key) }
    }

    /// Writes down what turns came to since the last time, in one transaction.
    private func flush() async {
        let states = reports.take()
        guard !states.isEmpty else { return }
        do { try await database.write { try $0.note(states) } } catch {
            logger.error("What event loops came to cannot be written down: \(error)")
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

/// The scheduler, for its loops, which it owns.
private final class Later: Sendable {
    private struct Reference {
        weak var scheduler: EventsPeriodicScheduler?
    }

    private let value = Mutex(Reference())
    var scheduler: EventsPeriodicScheduler? { value.withLock { $0.scheduler } }
    func set(_ scheduler: EventsPeriodicScheduler) { value.withLock { $0.scheduler = scheduler } }
}

extension EventLoopError {
    /// The error as a person gets it.
    var failure: Failure {
        if let error = cause as? ConnectionError { return error.failure }
        if let failure = cause as? Failure { return failure }
        return Failure(.failed, message)
    }
}

import EventScheduler
import Model
import Synchronization

/// The results of the loops' last turns, kept in memory until they are written to the database.
final class LoopReports: Sendable {
    private struct Values {
        var states: [LoopKey: LoopState] = [:]
        var unwritten: Set<LoopKey> = []
        /// The loops that had a turn since a run began.
        var polled: Set<LoopKey> = []
        /// The failures since a run began.
        var failures: [LoopKey: EventLoopError] = [:]
        /// The reasons for which loops cannot go on until a person does something: the server refuses their requests,
        /// or their records would take more than their quota.
        var refusals: [LoopKey: Failure] = [:]
        /// The loops for whose requests the server rejects the account's credentials.
        var unauthorized: Set<LoopKey> = []
    }

    /// A loop's state to be written to the database.
    struct Note {
        var state: LoopState
        /// The reason for which the loop cannot go on until a person does something; nil if it can.
        var refusal: Failure?
    }

    private let values = Mutex(Values())
    private let plugins: [LoopKind: PluginID]
    private let clock: HostClock

    init(plugins: [LoopKind: PluginID], clock: HostClock) {
        self.plugins = plugins
        self.clock = clock
    }

    func set(_ states: [LoopState]) {
        values.withLock { $0.states = states.reduce(into: [:]) { $0[$1.key] = $1 } }
    }

    func add(_ report: TurnReport) {
        let now = clock.now()
        values.withLock { values in
            var state =
                values.states[report.loop]
                ?? LoopState(key: report.loop, plugin: plugins[report.loop.kind] ?? PluginID(""))
            state.eventID = report.idAfter ?? state.eventID
            state.lastPoll = now
            state.lastResult = report.result
            state.lastError = report.error?.message
            state.failures = report.failures
            state.nextPoll = report.nextPollIn.map { now + $0 }
            values.states[report.loop] = state
            values.unwritten.insert(report.loop)
            values.polled.insert(report.loop)
            values.failures[report.loop] = report.error
            if report.error?.kind == .refused {
                values.unauthorized.insert(report.loop)
            } else if report.error == nil || report.error?.kind == .forbidden {
                values.unauthorized.remove(report.loop)
            }
            if let error = report.error, error.isRefusal || error.isOverQuota {
                values.refusals[report.loop] = error.failure
            } else if report.error == nil {
                values.refusals[report.loop] = nil
            }
        }
    }

    /// Returns the notes that were not written yet, and counts them as written.
    func take() -> [Note] {
        values.withLock { values in
            defer { values.unwritten = [] }
            return values.unwritten.sorted().compactMap { key in
                values.states[key].map { Note(state: $0, refusal: values.refusals[key]) }
            }
        }
    }

    /// Whether the server rejects the credentials for the requests of loops, and not for the account.
    var areUnauthorized: Bool { values.withLock { !$0.unauthorized.isEmpty } }

    /// Forgets the failures of a loop that was removed.
    func forget(_ key: LoopKey) {
        values.withLock { values in
            values.unauthorized.remove(key)
            values.failures[key] = nil
            values.refusals[key] = nil
        }
    }

    func beginRun() { values.withLock { ($0.failures, $0.polled) = ([:], []) } }

    /// The loops that had a turn since the run began.
    var polled: Set<LoopKey> { values.withLock { $0.polled } }

    /// Returns what is known of a loop; nil if nothing is.
    func state(of key: LoopKey) -> LoopState? { values.withLock { $0.states[key] } }

    /// The failures of the loops that failed and have not succeeded since, in the order of the loops.
    var failures: [(LoopKey, EventLoopError)] {
        values.withLock { $0.failures.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }
}

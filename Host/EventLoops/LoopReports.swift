import EventScheduler
import Model
import Synchronization

/// What the loops' last turns came to, in memory until it is written down.
final class LoopReports: Sendable {
    private struct Values {
        var states: [LoopKey: LoopState] = [:]
        var unwritten: Set<LoopKey> = []
        /// Since a run began.
        var failures: [LoopKey: EventLoopError] = [:]
        /// Why loops are refused.
        var refusals: [LoopKey: Failure] = [:]
        /// Which of these are refused for the account's credentials.
        var unauthorized: Set<LoopKey> = []
    }

    /// What is to be written down of a loop.
    struct Note {
        var state: LoopState
        /// Why the server refuses what it asks for.
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
            values.failures[report.loop] = report.error
            if report.error?.kind == .refused {
                values.unauthorized.insert(report.loop)
            } else if report.error == nil || report.error?.kind == .forbidden {
                values.unauthorized.remove(report.loop)
            }
            if report.error?.isRefusal == true {
                values.refusals[report.loop] = report.error?.failure
            } else if report.error == nil {
                values.refusals[report.loop] = nil
            }
        }
    }

    /// What was not written down yet.
    func take() -> [Note] {
        values.withLock { values in
            defer { values.unwritten = [] }
            return values.unwritten.sorted().compactMap { key in
                values.states[key].map { Note(state: $0, refusal: values.refusals[key]) }
            }
        }
    }

    /// Whether the credentials are refused where loops ask, and not for the account.
    var areUnauthorized: Bool { values.withLock { !$0.unauthorized.isEmpty } }

    /// A loop is no more: what it failed at does not matter.
    func forget(_ key: LoopKey) {
        values.withLock { values in
            values.unauthorized.remove(key)
            values.failures[key] = nil
            values.refusals[key] = nil
        }
    }

    func beginRun() { values.withLock { $0.failures = [:] } }

    /// Why loops failed that did not succeed since, in their order.
    var failures: [(LoopKey, EventLoopError)] {
        values.withLock { $0.failures.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }
}

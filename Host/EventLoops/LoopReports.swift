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
        }
    }

    /// What was not written down yet.
    func take() -> [LoopState] {
        values.withLock { values in
            defer { values.unwritten = [] }
            return values.unwritten.sorted().compactMap { values.states[$0] }
        }
    }

    func beginRun() { values.withLock { $0.failures = [:] } }

    /// Why loops failed that did not succeed since, in their order.
    var failures: [(LoopKey, EventLoopError)] {
        values.withLock { $0.failures.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }
}

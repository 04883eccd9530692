import EventScheduler
import Model
import Synchronization
import TestSupport

/// A script for a test's loops and a record of what they did. It stands for the server and the local storage and keeps
/// the journal of all calls.
final class LoopScript: Sendable {
    /// The result of a poll, a process or a refresh.
    struct Step: Sendable {
        var page: EventsPage<String>?
        var error: (any Error)?
        var gate: Gate?
        /// Whether the call stores its result although it was cancelled, because the cancellation came too late.
        var storesAnyway = false
        /// A function that runs before the call returns.
        var during: (@Sendable () async -> Void)?

        static let notOffered = Step()
        static func page(_ id: String, more: Bool = false, refresh: Refresh = .nothing, gate: Gate? = nil) -> Step {
            Step(page: EventsPage(eventID: EventID(id), refresh: refresh, more: more, payload: id), gate: gate)
        }
        static func fail(_ error: any Error, gate: Gate? = nil) -> Step { Step(error: error, gate: gate) }
        static func fail(_ kind: EventLoopError.Kind, retryAfter: Duration? = nil) -> Step {
            Step(error: EventLoopError(kind, kind.rawValue, retryAfter: retryAfter))
        }
        /// Returns a step for a process or refresh that succeeds.
        static func well(
            _ gate: Gate? = nil, storesAnyway: Bool = false, during: (@Sendable () async -> Void)? = nil
        ) -> Step {
            Step(gate: gate, storesAnyway: storesAnyway, during: during)
        }
    }

    private struct State {
        var ids: [LoopKey: String] = [:]
        var polls: [LoopKey: [Step]] = [:]
        var processes: [LoopKey: [Step]] = [:]
        var refreshes: [LoopKey: [Step]] = [:]
        var journal: [String] = []
        var made: [LoopKey] = []
        var reports: [TurnReport] = []
        var pollers: [Int] = []
        var blocked: [LoopKey: Gate] = [:]
        var active = 0
        var mostActive = 0
    }
    private let state = Mutex(State())
    let refreshHandlers: [Refresh]
    let limits: LoopLimits
    /// The poll intervals of the loops that wait longer than the period.
    let intervals: [LoopKey: Duration]

    init(
        refreshHandlers: [Refresh] = [], limits: LoopLimits = LoopLimits(), intervals: [LoopKey: Duration] = [:]
    ) {
        self.refreshHandlers = refreshHandlers
        self.limits = limits
        self.intervals = intervals
    }

    /// All calls, such as `core: poll e0`.
    var journal: [String] { state.withLock { $0.journal } }
    /// The loops of the polls alone, such as `core`.
    var polled: [String] {
        journal.filter { $0.contains(": poll ") }.map { String($0.prefix { $0 != ":" }) }
    }
    var made: [LoopKey] { state.withLock { $0.made } }
    var reports: [TurnReport] { state.withLock { $0.reports } }
    /// The highest number of calls that were under way at once.
    var mostActive: Int { state.withLock { $0.mostActive } }
    /// The gates that hold loops up.
    var blocked: [LoopKey: Gate] { state.withLock { $0.blocked } }

    func journal(of loop: LoopKey) -> [String] { journal.filter { $0.hasPrefix("\(loop.id): ") } }
    /// The number of the loop that made each poll, counted among all loops that were made.
    var pollers: [Int] { state.withLock { $0.pollers } }
    func polled(by number: Int) { state.withLock { $0.pollers.append(number) } }
    func clearJournal() { state.withLock { $0.journal = [] } }
    func log(_ loop: LoopKey, _ text: String) { state.withLock { $0.journal.append("\(loop.id): \(text)") } }
    /// Records that a loop was made.
    /// - Returns: The loop's number among all loops that were made.
    func made(_ loop: LoopKey) -> Int {
        state.withLock { state in
            state.made.append(loop)
            return state.made.count - 1
        }
    }
    func report(_ report: TurnReport) { state.withLock { $0.reports.append(report) } }

    func id(of loop: LoopKey) -> String? { state.withLock { $0.ids[loop] } }
    func setID(_ id: String?, of loop: LoopKey) { state.withLock { $0.ids[loop] = id } }

    func polls(_ loop: LoopKey, _ steps: Step...) { state.withLock { $0.polls[loop, default: []] += steps } }
    func processes(_ loop: LoopKey, _ steps: Step...) { state.withLock { $0.processes[loop, default: []] += steps } }
    func refreshes(_ loop: LoopKey, _ steps: Step...) { state.withLock { $0.refreshes[loop, default: []] += steps } }

    func poll(_ loop: LoopKey) -> Step? { state.withLock { $0.polls[loop]?.popFirst() } }
    func process(_ loop: LoopKey) -> Step? { state.withLock { $0.processes[loop]?.popFirst() } }
    func refresh(_ loop: LoopKey) -> Step? { state.withLock { $0.refreshes[loop]?.popFirst() } }

    /// Carries out a step, except for returning its result.
    func carryOut(_ step: Step?, of loop: LoopKey) async throws {
        state.withLock {
            $0.active += 1
            $0.mostActive = max($0.mostActive, $0.active)
        }
        defer { state.withLock { $0.active -= 1 } }
        // Any other call that ran at the same time would be counted now.
        await Task.yield()
        if let gate = step?.gate {
            state.withLock { $0.blocked[loop] = gate }
            await gate.pass()
            state.withLock { $0.blocked[loop] = nil }
        }
        await step?.during?()
        if let error = step?.error { throw error }
    }
}

extension Array {
    fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}

extension LoopKey {
    /// Returns the key of the special loop with this id.
    static func special(_ id: String) -> LoopKey { LoopKey(kind: LoopKind("calendar"), id: LoopID(id)) }
    static let one = special("1")
    static let two = special("2")
    static let three = special("3")
}

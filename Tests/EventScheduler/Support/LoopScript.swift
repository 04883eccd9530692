import EventScheduler
import Model
import Synchronization
import TestSupport

/// What the scripted loops of a test do and did: the server, local storage and the journal of all calls.
final class LoopScript: Sendable {
    /// What a poll, a process or a refresh comes to.
    struct Step: Sendable {
        var page: EventsPage<String>?
        var error: (any Error)?
        var gate: Gate?
        /// Stores although the call was cancelled: it was too late.
        var storesAnyway = false
        /// Runs before the call returns.
        var during: (@Sendable () async -> Void)?

        static let notOffered = Step()
        static func page(_ id: String, more: Bool = false, refresh: Refresh = .nothing, gate: Gate? = nil) -> Step {
            Step(page: EventsPage(eventID: EventID(id), refresh: refresh, more: more, payload: id), gate: gate)
        }
        static func fail(_ error: any Error, gate: Gate? = nil) -> Step { Step(error: error, gate: gate) }
        static func fail(_ kind: EventLoopError.Kind, retryAfter: Duration? = nil) -> Step {
            Step(error: EventLoopError(kind, kind.rawValue, retryAfter: retryAfter))
        }
        /// A process or refresh that goes well.
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
    /// Of loops that wait longer than the period.
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
    /// The polls alone, such as `core`.
    var polled: [String] {
        journal.filter { $0.contains(": poll ") }.map { String($0.prefix { $0 != ":" }) }
    }
    var made: [LoopKey] { state.withLock { $0.made } }
    var reports: [TurnReport] { state.withLock { $0.reports } }
    /// How many calls were under way at once, at most.
    var mostActive: Int { state.withLock { $0.mostActive } }
    /// The gates that hold loops up.
    var blocked: [LoopKey: Gate] { state.withLock { $0.blocked } }

    func journal(of loop: LoopKey) -> [String] { journal.filter { $0.hasPrefix("\(loop.id): ") } }
    /// Which of the loops that were made was polled.
    var pollers: [Int] { state.withLock { $0.pollers } }
    func polled(by number: Int) { state.withLock { $0.pollers.append(number) } }
    func clearJournal() { state.withLock { $0.journal = [] } }
    func log(_ loop: LoopKey, _ text: String) { state.withLock { $0.journal.append("\(loop.id): \(text)") } }
    /// - Returns: the loop's number among all that were made.
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

    /// Does what a step says besides its result.
    func carryOut(_ step: Step?, of loop: LoopKey) async throws {
        state.withLock {
            $0.active += 1
            $0.mostActive = max($0.mostActive, $0.active)
        }
        defer { state.withLock { $0.active -= 1 } }
        // Whoever else would run now shows.
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
    /// The special loop with this id.
    static func special(_ id: String) -> LoopKey { LoopKey(kind: LoopKind("calendar"), id: LoopID(id)) }
    static let one = special("1")
    static let two = special("2")
    static let three = special("3")
}

import Model

/// Which loop is polled when: a value without I/O. Each input gives what is to be done, in this order.
///
/// One operation runs at a time, the others wait in one queue, first in, first out. A tick fills the queue with all loops that are
/// due, if nothing waits or runs; otherwise it is dropped. Times are the monotonic clock's.
struct SchedulerMachine: Sendable {
    enum Effect: Sendable {
        case run(LoopOperation)
        case cancel(operation: UInt64)
        /// Replaces the only timer.
        case setTimer(Duration?)
        case report(TurnReport)
    }

    struct Entry: Sendable {
        /// Grows with each loop that is enabled.
        var order: UInt64
        var limits: LoopLimits
        var failures = 0
        /// After failures; a trigger or a start does not wait for it.
        var backOffUntil: Duration?
        /// By the server's wish, or since it has nothing to poll.
        var heldUntil: Duration?
        /// Waits for the next start.
        var isHalted = false
    }

    /// Loops are to run once.
    struct Once: Sendable {
        /// Nil: all.
        var wanted: Set<LoopKey>?
        var rounds = 0
        /// The loops that had their turn, by their order.
        var taken: Set<UInt64> = []
    }

    /// How many pages a loop is given in a row.
    static let mostPages = 50
    /// How often a single run begins again, for loops that came meanwhile or have more.
    static let mostRounds = 20
    /// How long a loop with nothing to poll rests, and the longest that a server may ask to wait.
    static let day = Duration.seconds(86_400)
    /// The periods between polls of a loop that fails.
    static let backOff = [1, 1, 2, 3, 5, 8]
    /// By which part of a period a refill comes early or late at most.
    static let jitter = 0.2

    let period: Duration
    /// How long a cancelled call may take to end.
    let grace: Duration
    /// From 0 to 1, without 1.
    let random: @Sendable () -> Double

    var coreKey: LoopKey?
    var entries: [LoopKey: Entry] = [:]
    var lastOrder: UInt64 = 0
    var lastOperation: UInt64 = 0
    var queue: [LoopOperation] = []
    var running: RunningOperation?
    /// Calls that were given up and have not ended.
    var hung: [UInt64: LoopKey] = [:]

    var isStarted = false
    /// When the first tick was; the others follow at whole periods.
    var origin = Duration.zero
    var tickNumber = 0
    var nextTick = Duration.zero
    /// A tick found the queue empty and only a cancelled call still running.
    var isRefillDue = false
    /// By the server's wish, for all loops.
    var accountHeldUntil: Duration?
    var once: Once?
    var armed: Duration?
    var effects: [Effect] = []

    init(period: Duration, grace: Duration, random: @escaping @Sendable () -> Double) {
        self.period = period
        self.grace = grace
        self.random = random
    }

    var isActive: Bool { isStarted || once != nil }

    var enabled: EnabledLoops {
        let special = entries.filter { $0.key != coreKey }.sorted { $0.value.order < $1.value.order }
        return EnabledLoops(core: coreKey, special: special.map(\.key))
    }

    /// When the timer is to fire.
    private var nextWake: Duration? {
        let tick = isStarted ? nextTick : nil
        return [tick, running?.deadline].compactMap(\.self).min()
    }

    /// The timer fired.
    mutating func wake(at now: Duration) -> [Effect] {
        armed = nil
        if let running, running.deadline <= now { overrun(running, at: now) }
        if isStarted, nextTick <= now {
            tickNumber = max(tickNumber, Int((now - origin) / period)) + 1
            nextTick = origin + period * tickNumber + period * (Self.jitter * (2 * random() - 1))
            if queue.isEmpty {
                if running == nil { refill(at: now) } else { isRefillDue = running?.state == .cancelled }
            }
        }
        return settle(at: now)
    }

    /// Whether an operation is still wanted; if so, its next call begins now.
    mutating func enter(
        _ stage: TurnStage, of operation: UInt64, at now: Duration
    ) -> (isWanted: Bool, effects: [Effect]) {
        guard let running, running.operation.id == operation, running.state != .cancelled,
            let entry = entries[running.operation.loop]
        else { return (false, []) }
        self.running?.state = stage == .polling ? .polling : .processing
        self.running?.deadline = now + (stage == .polling ? entry.limits.polling : entry.limits.processing)
        return (true, settle(at: now))
    }

    /// What follows from an input.
    mutating func settle(at now: Duration) -> [Effect] {
        if running == nil {
            if queue.isEmpty, isRefillDue { refill(at: now) }
            if queue.isEmpty { goOnOnce(at: now) }
            if isActive, !queue.isEmpty {
                let operation = queue.removeFirst()
                let limit = entries[operation.loop]?.limits.polling ?? grace
                running = RunningOperation(operation: operation, startedAt: now, deadline: now + limit)
                effects.append(.run(operation))
            }
        }
        if armed != nextWake {
            armed = nextWake
            effects.append(.setTimer(armed))
        }
        defer { effects = [] }
        return effects
    }

    private mutating func refill(at now: Duration) {
        isRefillDue = false
        guard !isAccountHeld(at: now) else { return }
        let due = inOrder { ($0.backOffUntil ?? now) <= now && mayRun($0, at: now) }
        for loop in due { queue.append(turn(of: loop, at: now)) }
    }

    /// The next round of a single run, or its end.
    private mutating func goOnOnce(at now: Duration) {
        guard var once else { return }
        let left = inOrder { !once.taken.contains($0.order) && mayRun($0, at: now) }
            .filter { once.wanted?.contains($0) ?? true }
        guard !left.isEmpty, once.rounds < Self.mostRounds, !isAccountHeld(at: now) else {
            self.once = nil
            return
        }
        once.rounds += 1
        for loop in left {
            if let order = entries[loop]?.order { once.taken.insert(order) }
            queue.append(turn(of: loop, at: now))
        }
        self.once = once
    }

    /// The core loop first, then the special ones in the order of enabling; without those whose last call still hangs.
    private func inOrder(where isWanted: (Entry) -> Bool) -> [LoopKey] {
        let hanging = Set(hung.values)
        return entries.filter { !hanging.contains($0.key) && isWanted($0.value) }
            .sorted { ($0.key == coreKey ? 0 : $0.value.order) < ($1.key == coreKey ? 0 : $1.value.order) }.map(\.key)
    }

    mutating func turn(of loop: LoopKey, isTriggered: Bool = false, at now: Duration) -> LoopOperation {
        lastOperation += 1
        return LoopOperation(
            id: lastOperation, loop: loop, work: .turn(Chain()), isTriggered: isTriggered, cycle: now)
    }

    func isAccountHeld(at now: Duration) -> Bool { (accountHeldUntil ?? now) > now }

    func mayRun(_ entry: Entry, at now: Duration) -> Bool { !entry.isHalted && (entry.heldUntil ?? now) <= now }

    /// What runs is not wanted any more.
    mutating func cancelRunning(at now: Duration) {
        guard let running, running.state != .cancelled else { return }
        self.running?.state = .cancelled
        self.running?.deadline = now + grace
        effects.append(.cancel(operation: running.operation.id))
    }
}

import Model

/// Which loop is polled when: a value without I/O. Each input gives what is to be done, in this order.
///
/// One operation runs at a time, the others wait in one queue, first in, first out. A tick fills the queue with all loops that are
/// due, if nothing of an earlier tick waits or runs; otherwise it is dropped. What is triggered comes before that, gathered into batches
/// that leave the others at least half of the time. Times are the monotonic clock's.
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
        /// Between two polls, where that is longer than the period.
        var interval: Duration?
        var failures = 0
        /// After failures, or by its interval; a trigger or a start does not wait for it.
        var backOffUntil: Duration?
        /// By the server's wish, or since it has nothing to poll.
        var heldUntil: Duration?
        /// Since the server refused what it asks for. A start does not wait for it.
        var refusedUntil: Duration?
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

    /// How long a batch of triggered loops takes at least, with the pause after it.
    static let gathering = Duration.seconds(1)
    /// How many pages a loop is given in a row.
    static let mostPages = 50
    /// How often a single run begins again, for loops that came meanwhile or have more.
    static let mostRounds = 20
    /// How long a loop with nothing to poll rests, and the longest that a server may ask to wait.
    static let day = Duration.seconds(86_400)
    /// The periods between polls of a loop that fails.
    static let backOff = [1, 1, 2, 3, 5, 8]
    /// How long a loop waits that is refused, at first and at most.
    static let refusalWaits = (first: Duration.seconds(30), longest: Duration.seconds(900))
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
    /// Loops that are to be polled with the next batch, in the order in which they were triggered.
    var triggered: [LoopKey] = []
    /// Whether triggered loops wait in front of the queue, or the first of them runs.
    var hasBatch = false
    /// When the first of them began.
    var batchBegan: Duration?
    /// When the next batch may begin.
    var nextBatch: Duration?
    /// By the server's wish, for all loops.
    var accountHeldUntil: Duration?
    var once: Once?
    /// What had more to fetch when the last single run ended.
    var left: [LoopKey] = []
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
        let batch = triggered.isEmpty || hasBatch ? nil : nextBatch
        return [tick, batch, running?.deadline].compactMap(\.self).min()
    }

    /// The timer fired.
    mutating func wake(at now: Duration) -> [Effect] {
        armed = nil
        if let running, running.deadline <= now { overrun(running, at: now) }
        if isStarted, nextTick <= now {
            tickNumber = max(tickNumber, Int((now - origin) / period)) + 1
            nextTick = origin + period * tickNumber + period * (Self.jitter * (2 * random() - 1))
            if !hasCycle {
                if running?.state == .cancelled { isRefillDue = true } else { refill(at: now) }
            }
        }
        return nextEffects(at: now)
    }

    /// Whether something of a tick waits or runs.
    private var hasCycle: Bool {
        if let running, running.state != .cancelled, !running.operation.isTriggered { return true }
        return queue.contains { !$0.isTriggered }
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
        return (true, nextEffects(at: now))
    }

    /// What follows from an input.
    mutating func nextEffects(at now: Duration) -> [Effect] {
        endBatch(at: now)
        beginBatch(at: now)
        if running == nil {
            if isRefillDue { refill(at: now) }
            if queue.isEmpty { goOnOnce(at: now) }
            if isActive, !queue.isEmpty {
                let operation = queue.removeFirst()
                if hasBatch, operation.isTriggered { batchBegan = batchBegan ?? now }
                // What it was triggered for, it sees with this turn.
                triggered.removeAll { $0 == operation.loop }
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
        for loop in due where !queue.contains(where: { $0.loop == loop }) { queue.append(turn(of: loop, at: now)) }
    }

    /// The triggered loops have had their turn, which the others wait for no longer than they do themselves now.
    private mutating func endBatch(at now: Duration) {
        guard hasBatch, running?.operation.isTriggered != true, queue.first?.isTriggered != true else { return }
        hasBatch = false
        if let began = batchBegan.take() { nextBatch = max(began + Self.gathering, now + (now - began)) }
    }

    /// Puts what was triggered in front of all that waits, the core loop first.
    private mutating func beginBatch(at now: Duration) {
        guard !triggered.isEmpty, !hasBatch, (nextBatch ?? now) <= now else { return }
        let hanging = Set(hung.values)
        let due = triggered.filter { loop in
            entries[loop].map { mayRun($0, at: now) } ?? false && !hanging.contains(loop)
        }
        triggered = []
        guard isActive, !isAccountHeld(at: now), !due.isEmpty else { return }
        let batch = (due.filter { $0 == coreKey } + due.filter { $0 != coreKey }).map { loop in
            guard let index = queue.firstIndex(where: { $0.loop == loop && $0.chain != nil }) else {
                return turn(of: loop, isTriggered: true, at: now)
            }
            var waiting = queue.remove(at: index)
            waiting.isTriggered = true
            return waiting
        }
        // What a loop is to be told of an error comes first.
        queue.insert(contentsOf: batch, at: queue.prefix { $0.chain == nil }.count)
        hasBatch = true
    }

    /// The next round of a single run, or its end.
    private mutating func goOnOnce(at now: Duration) {
        guard var once else { return }
        let left = inOrder { !once.taken.contains($0.order) && mayRun($0, at: now) }
            .filter { once.wanted?.contains($0) ?? true }
        guard !left.isEmpty, once.rounds < Self.mostRounds, !isAccountHeld(at: now) else {
            self.once = nil
            if !isAccountHeld(at: now) { self.left = left }
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

    func mayRun(_ entry: Entry, at now: Duration) -> Bool {
        !entry.isHalted && (entry.heldUntil ?? now) <= now && (entry.refusedUntil ?? now) <= now
    }

    /// What runs is not wanted any more.
    mutating func cancelRunning(at now: Duration) {
        guard let running, running.state != .cancelled else { return }
        self.running?.state = .cancelled
        self.running?.deadline = now + grace
        effects.append(.cancel(operation: running.operation.id))
    }
}

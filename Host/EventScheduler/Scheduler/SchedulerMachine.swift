import Model

/// A state machine that decides which loop is polled when. It is a value without I/O. Each input returns the effects to
/// carry out, in their order.
///
/// One operation runs at a time; the others wait in one queue, first in, first out. A tick fills the queue with all
/// loops that are due, if nothing of an earlier tick waits or runs; otherwise the tick is dropped. Triggered loops come
/// before the queue, gathered into batches that leave the other loops at least half of the time. Times are the
/// monotonic clock's.
struct SchedulerMachine: Sendable {
    enum Effect: Sendable {
        case run(LoopOperation)
        case cancel(operation: UInt64)
        /// Replaces the only timer; nil removes it.
        case setTimer(Duration?)
        case report(TurnReport)
    }

    struct Entry: Sendable {
        /// A number that grows with each loop that is enabled.
        var order: UInt64
        var limits: LoopLimits
        /// The time between two polls, if it is longer than the period.
        var interval: Duration?
        var failures = 0
        /// The end of a wait after failures, or of the loop's interval. A trigger or a start does not wait for it.
        var backOffUntil: Duration?
        /// The end of a wait that the server asked for, or of the rest of a loop that has nothing to poll.
        var heldUntil: Duration?
        /// The end of the wait after the server refused the loop's requests. A start does not wait for it.
        var refusedUntil: Duration?
        /// Whether the loop waits for the next start.
        var isHalted = false
    }

    /// A single run of loops.
    struct Once: Sendable {
        /// The loops to run; nil runs all.
        var wanted: Set<LoopKey>?
        var rounds = 0
        /// The loops that had their turn, by their order.
        var taken: Set<UInt64> = []
    }

    /// The shortest duration of a batch of triggered loops, with the pause after it.
    static let gathering = Duration.seconds(1)
    /// The highest number of pages of a loop in a row.
    static let mostPages = 50
    /// The highest number of times that a single run begins again, for loops that were added meanwhile or have more.
    static let mostRounds = 20
    /// The rest of a loop with nothing to poll, and the longest wait that a server may ask for.
    static let day = Duration.seconds(86_400)
    /// The numbers of periods between polls of a loop that fails.
    static let backOff = [1, 1, 2, 3, 5, 8]
    /// The first and the longest wait of a loop whose requests the server refuses.
    static let refusalWaits = (first: Duration.seconds(30), longest: Duration.seconds(900))
    /// The largest part of a period by which a refill comes early or late.
    static let jitter = 0.2

    let period: Duration
    /// The time that a cancelled call may take to end.
    let grace: Duration
    /// Returns a number from 0 up to but not including 1.
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
    /// The time of the first tick; the others follow at whole periods.
    var origin = Duration.zero
    var tickNumber = 0
    var nextTick = Duration.zero
    /// Whether a tick found the queue empty and only a cancelled call still running.
    var isRefillDue = false
    /// Loops to be polled with the next batch, in the order in which they were triggered.
    var triggered: [LoopKey] = []
    /// Whether triggered loops wait in front of the queue, or one of them runs.
    var hasBatch = false
    /// The time when the first loop of the batch began.
    var batchBegan: Duration?
    /// The time when the next batch may begin.
    var nextBatch: Duration?
    /// The end of the wait that the server asked for, for all loops.
    var accountHeldUntil: Duration?
    var once: Once?
    /// The loops that had more to fetch when the last single run ended.
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

    /// The time when the timer is to fire.
    private var nextWake: Duration? {
        let tick = isStarted ? nextTick : nil
        let batch = triggered.isEmpty || hasBatch ? nil : nextBatch
        return [tick, batch, running?.deadline].compactMap(\.self).min()
    }

    /// Handles the timer.
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

    /// Whether an operation of a tick waits or runs.
    private var hasCycle: Bool {
        if let running, running.state != .cancelled, !running.operation.isTriggered { return true }
        return queue.contains { !$0.isTriggered }
    }

    /// Tells whether an operation is still wanted. If so, its next call begins now.
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

    /// Returns the effects of an input.
    mutating func nextEffects(at now: Duration) -> [Effect] {
        endBatch(at: now)
        beginBatch(at: now)
        if running == nil {
            if isRefillDue { refill(at: now) }
            if queue.isEmpty { goOnOnce(at: now) }
            if isActive, !queue.isEmpty {
                let operation = queue.removeFirst()
                if hasBatch, operation.isTriggered { batchBegan = batchBegan ?? now }
                // This turn also serves the trigger.
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

    /// Ends a batch when its loops have had their turn. The next batch waits for at least as long as this batch took.
    private mutating func endBatch(at now: Duration) {
        guard hasBatch, running?.operation.isTriggered != true, queue.first?.isTriggered != true else { return }
        hasBatch = false
        if let began = batchBegan.take() { nextBatch = max(began + Self.gathering, now + (now - began)) }
    }

    /// Puts the triggered loops in front of the queue, the core loop first.
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
        // A report of an error to a loop comes first.
        queue.insert(contentsOf: batch, at: queue.prefix { $0.chain == nil }.count)
        hasBatch = true
    }

    /// Begins the next round of a single run, or ends the run.
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

    /// Returns the core loop first, then the special loops in the order of enabling, without the loops whose last call
    /// still hangs.
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

    /// Cancels the running operation, whose result is not wanted any more.
    mutating func cancelRunning(at now: Duration) {
        guard let running, running.state != .cancelled else { return }
        self.running?.state = .cancelled
        self.running?.deadline = now + grace
        effects.append(.cancel(operation: running.operation.id))
    }
}

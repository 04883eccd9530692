import Model

/// Inputs from the scheduler's owner.
extension SchedulerMachine {
    mutating func start(at now: Duration) -> [Effect] {
        guard !isStarted else { return [] }
        isStarted = true
        origin = now
        tickNumber = 0
        nextTick = now
        for key in entries.keys {
            entries[key]?.isHalted = false
            entries[key]?.backOffUntil = nil
            entries[key]?.refusedUntil = nil
        }
        return nextEffects(at: now)
    }

    mutating func suspend(at now: Duration) -> [Effect] {
        isStarted = false
        isRefillDue = false
        once = nil
        queue = []
        triggered = []
        cancelRunning(at: now)
        return nextEffects(at: now)
    }

    /// Suspends and forgets the special loops.
    mutating func reset(at now: Duration) -> [Effect] {
        entries = entries.filter { $0.key == coreKey }
        return suspend(at: now)
    }

    /// Suspends and forgets all loops, and the time for which the server asked the account to wait.
    mutating func logout(at now: Duration) -> [Effect] {
        entries = [:]
        coreKey = nil
        accountHeldUntil = nil
        return suspend(at: now)
    }

    /// Runs loops until nothing is left, whether the scheduler was started or not.
    /// - Parameters:
    ///   - wanted: The loops to run; nil runs all.
    ///   - now: The time now.
    mutating func runOnce(_ wanted: Set<LoopKey>?, at now: Duration) -> [Effect] {
        if let known = once {
            once?.wanted = known.wanted.flatMap { wanted?.union($0) }
        } else {
            once = Once(wanted: wanted)
            left = []
        }
        return nextEffects(at: now)
    }

    /// Enables a loop. It replaces the loop with this key, whose operations are dropped.
    /// - Parameters:
    ///   - key: The loop's id.
    ///   - limits: The longest durations of the loop's calls.
    ///   - interval: The time between two polls, if it is longer than the period.
    ///   - isCore: Whether the loop becomes the core loop.
    ///   - isFound: Whether a turn found the loop. Its first turn comes at once then, behind the waiting operations.
    ///   - rest: The time for which the loop is not polled yet.
    ///   - now: The time now.
    mutating func enable(
        _ key: LoopKey, limits: LoopLimits, interval: Duration? = nil, isCore: Bool, isFound: Bool = false,
        rest: Duration? = nil, at now: Duration
    ) -> [Effect] {
        if isCore, let coreKey { remove(coreKey, at: now) }
        remove(key, at: now)
        lastOrder += 1
        entries[key] = Entry(
            order: lastOrder, limits: limits, interval: interval, heldUntil: rest.map { now + min($0, Self.day) })
        if isCore { coreKey = key }
        if isFound, isStarted, rest == nil, !isAccountHeld(at: now), !hung.values.contains(key) {
            queue.append(turn(of: key, at: now))
            once?.taken.insert(lastOrder)
        }
        return nextEffects(at: now)
    }

    mutating func disable(_ key: LoopKey, at now: Duration) -> [Effect] {
        remove(key, at: now)
        return nextEffects(at: now)
    }

    /// Runs the core loop, then this special loop, before all waiting operations: at once, or with the next batch.
    /// Running and waiting operations stay.
    mutating func trigger(special: LoopKey?, at now: Duration) -> [Effect] {
        guard isActive, !isAccountHeld(at: now) else { return nextEffects(at: now) }
        for case let key? in [coreKey, special]
        where entries[key] != nil && !triggered.contains(key)
            // A loop whose triggered turn is still to come is not triggered again.
            && !(hasBatch && queue.contains { $0.loop == key && $0.isTriggered })
        {
            triggered.append(key)
        }
        return nextEffects(at: now)
    }

    private mutating func remove(_ key: LoopKey, at now: Duration) {
        entries[key] = nil
        if coreKey == key { coreKey = nil }
        queue.removeAll { $0.loop == key }
        triggered.removeAll { $0 == key }
        if running?.operation.loop == key { cancelRunning(at: now) }
    }
}

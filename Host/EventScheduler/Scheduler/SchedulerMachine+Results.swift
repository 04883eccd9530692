import Model

/// Results of turns.
extension SchedulerMachine {
    /// Handles the end of an operation's call.
    /// - Parameters:
    ///   - id: The operation.
    ///   - outcome: The outcome of the turn; nil if the operation reported an error to the loop, or was cancelled.
    ///   - now: The time now.
    mutating func finished(_ id: UInt64, _ outcome: TurnOutcome?, at now: Duration) -> [Effect] {
        guard hung.removeValue(forKey: id) == nil, let running, running.operation.id == id else {
            return nextEffects(at: now)
        }
        self.running = nil
        if running.state != .cancelled, let outcome { take(outcome, of: running, at: now) }
        return nextEffects(at: now)
    }

    /// Handles an operation whose call has not ended in time.
    mutating func overrun(_ running: RunningOperation, at now: Duration) {
        guard running.state != .cancelled else {
            hung[running.operation.id] = running.operation.loop
            self.running = nil
            return
        }
        cancelRunning(at: now)
        guard running.operation.chain != nil else { return }
        let error = EventLoopError(
            .overdue, "a call of the loop \(running.operation.loop) did not end within its time limit and was given up")
        take(TurnOutcome(result: .error, error: error), of: running, at: now)
        lastOperation += 1
        var report = running.operation.next(lastOperation)
        report.work = .report(error)
        queue.insert(report, at: 0)
    }

    private mutating func take(_ outcome: TurnOutcome, of running: RunningOperation, at now: Duration) {
        let operation = running.operation
        guard let chain = operation.chain, entries[operation.loop] != nil else { return }
        var goesOn = false
        if let error = outcome.error {
            fail(operation, error, at: now)
        } else {
            entries[operation.loop]?.failures = 0
            let rest = entries[operation.loop].flatMap { self.rest(of: $0, after: operation) }
            entries[operation.loop]?.backOffUntil = rest
        }
        switch outcome.result {
        case .more where chain.turns + 1 == Self.mostPages:
            if let order = entries[operation.loop]?.order { once?.taken.remove(order) }
        case .more:
            lastOperation += 1
            var next = operation.next(lastOperation)
            next.work = .turn(
                Chain(
                    turns: chain.turns + 1, hasRefreshed: chain.hasRefreshed || outcome.hasRefreshed,
                    hasStalled: outcome.after == outcome.before))
            queue.append(next)
            goesOn = true
        case .notOffered: entries[operation.loop]?.heldUntil = now + Self.day - period / 2
        case .ok, .refresh, .error: break
        }
        effects.append(
            .report(
                TurnReport(
                    loop: operation.loop, result: outcome.result, error: outcome.error, idBefore: outcome.before,
                    idAfter: outcome.after, hasRefreshed: outcome.hasRefreshed, duration: now - running.startedAt,
                    failures: entries[operation.loop]?.failures ?? 0,
                    nextPollIn: goesOn ? .zero : nextPoll(of: operation.loop, at: now).map { $0 - now })))
    }

    /// Returns the time until which a loop is skipped; nil if the loop takes its turn with the next refill.
    private func rest(of entry: Entry, after operation: LoopOperation, intervals: Int = 1) -> Duration? {
        let interval = max(entry.interval ?? period, period)
        guard intervals > 1 || interval > period else { return nil }
        // Half a period is subtracted, because refills come early or late.
        return operation.cycle + interval * intervals - period / 2
    }

    private mutating func fail(_ operation: LoopOperation, _ error: EventLoopError, at now: Duration) {
        guard var entry = entries[operation.loop] else { return }
        if error.kind != .busy {
            entry.failures += 1
            let periods = Self.backOff[min(entry.failures, Self.backOff.count) - 1]
            entry.backOffUntil = rest(of: entry, after: operation, intervals: periods)
        }
        let until = error.retryAfter.map { now + min($0, Self.day) }
        if error.kind == .rateLimited { accountHeldUntil = until } else { entry.heldUntil = until }
        if error.kind == .unauthorized { entry.isHalted = true }
        entries[operation.loop] = entry
        refuse(operation.loop, error.kind, at: now)

        let concernsAll = error.kind == .unauthorized && operation.loop == coreKey
        if concernsAll { for key in entries.keys { entries[key]?.isHalted = true } }
        if concernsAll || error.kind == .connectionTimedOut || error.kind == .rateLimited {
            queue.removeAll { $0.chain != nil }
        }
    }

    private mutating func refuse(_ loop: LoopKey, _ kind: EventLoopError.Kind, at now: Duration) {
        guard kind == .refused || kind == .forbidden, let failures = entries[loop]?.failures else { return }
        var wait = Self.refusalWaits.first
        for _ in 0..<failures - 1 where wait < Self.refusalWaits.longest { wait = wait * 2 }
        let until = now + min(wait, Self.refusalWaits.longest)
        let concerned = kind == .forbidden ? [loop] : entries.keys.filter { $0.kind == loop.kind }
        for key in concerned { entries[key]?.refusedUntil = until }
        queue.removeAll { $0.chain != nil && concerned.contains($0.loop) }
    }

    private func nextPoll(of loop: LoopKey, at now: Duration) -> Duration? {
        guard let entry = entries[loop], !entry.isHalted else { return nil }
        let waits = [entry.backOffUntil, entry.heldUntil, entry.refusedUntil, accountHeldUntil]
        let earliest = waits.compactMap(\.self).max() ?? now
        guard isStarted else { return earliest > now ? earliest : nil }
        if earliest <= nextTick { return nextTick }
        return origin + period * Int(((earliest - origin) / period).rounded(.up))
    }
}

extension LoopOperation {
    fileprivate func next(_ id: UInt64) -> LoopOperation {
        LoopOperation(id: id, loop: loop, work: work, isTriggered: isTriggered, cycle: cycle)
    }
}

public import Model

/// A scheduler that polls the event loops of one account, one after another, at a period.
///
/// Loops are enabled and disabled by their ids at any time; the scheduler creates the loops itself. ``start()`` and
/// ``suspend()`` follow the program's life: online, offline, going to sleep. A refill polls all enabled loops that are
/// due, the core loop first, and comes only when the previous refill is done.
///
///     let scheduler = EventsPeriodicScheduler(core: { MyCore($0, tells: $1) }, special: { id, _ in MyCalendar(id) })
///     await scheduler.enableCoreLoop(.core)
///     await scheduler.start()
///
/// Idle loops have neither a task nor a timer. A scheduler that is released ends its timer and cancels its call.
public actor EventsPeriodicScheduler {
    private let clock: HostClock
    private let makeCore: @Sendable (LoopKey, any LoopDelegate) -> any EventLoop
    private let makeSpecial: @Sendable (LoopKey, any LoopDelegate) -> (any EventLoop)?
    private let onTurn: @Sendable (TurnReport) -> Void

    private(set) var machine: SchedulerMachine
    private var loops: [LoopKey: any EventLoop] = [:]
    private var timer: Task<Void, Never>?
    /// The call in progress, and the cancelled calls that have not ended.
    private(set) var calls: [UInt64: Task<Void, Never>] = [:]
    /// The callers that wait for the end of a single run (`operation` is nil) or of an operation.
    private var waiting: [(operation: UInt64?, end: AsyncStream<Void>.Continuation)] = []

    /// The scheduler and the operation to which a task belongs.
    private struct Place: Hashable, Sendable {
        var scheduler: ObjectIdentifier
        var operation: UInt64
    }
    @TaskLocal private static var place: Place?

    /// Creates a scheduler that polls nothing yet.
    /// - Parameters:
    ///   - period: The time between two refills, above zero.
    ///   - grace: The time that a cancelled call may take to end before the other calls go on.
    ///   - clock: The clock.
    ///   - random: Returns a number from 0 up to but not including 1. It determines how early or late refills come, so
    ///     that many hosts do not send requests at the same time.
    ///   - core: Creates a core loop when it is enabled. The core loop is the first of every cycle and usually reports
    ///     the loops that were added and removed.
    ///   - special: Creates a special loop when it is enabled, of the type that the id calls for; returns nil if there
    ///     is no loop for the id.
    ///   - onTurn: Receives a report on each turn, in order, before the next turn begins. It must not block.
    public init(
        period: Duration = .seconds(60), grace: Duration = .seconds(5), clock: HostClock = .system,
        random: @escaping @Sendable () -> Double = { HostRandom.fraction() },
        core: @escaping @Sendable (LoopKey, any LoopDelegate) -> any EventLoop,
        special: @escaping @Sendable (LoopKey, any LoopDelegate) -> (any EventLoop)?,
        onTurn: @escaping @Sendable (TurnReport) -> Void = { _ in }
    ) {
        precondition(period > .zero, "A scheduler's period must be above zero.")
        self.clock = clock
        self.makeCore = core
        self.makeSpecial = special
        self.onTurn = onTurn
        machine = SchedulerMachine(period: period, grace: grace, random: random)
    }

    deinit {
        timer?.cancel()
        for call in calls.values { call.cancel() }
    }

    /// The delegate that loops receive.
    public nonisolated var delegate: any LoopDelegate { Delegate(scheduler: self) }

    /// Returns the loops that are polled. Does not wait for a call in progress.
    public func currentlyEnabled() -> EnabledLoops { machine.enabled }

    /// Creates the core loop with this id and has it polled from the next refill on. The loop replaces the previous
    /// core loop.
    /// - Parameters:
    ///   - id: The id of the loop.
    ///   - rest: The time for which the loop is not polled yet, because it had nothing to poll a while ago.
    public func enableCoreLoop(_ id: LoopKey = .core, rest: Duration? = nil) {
        let loop = makeCore(id, delegate)
        if let old = machine.coreKey { loops[old] = nil }
        loops[id] = loop
        apply { $0.enable(id, limits: loop.limits, interval: loop.interval, isCore: true, rest: rest, at: $1) }
    }

    /// Creates the special loop with this id and has it polled from the next refill on, after the loops that were
    /// enabled before. An enabled loop with this id is replaced: its operations that are queued or in progress are
    /// dropped.
    /// - Parameters:
    ///   - id: The id of the loop.
    ///   - rest: The time for which the loop is not polled yet, because it had nothing to poll a while ago.
    /// - Returns: False if there is no loop for this id, or if the id is the core loop's.
    @discardableResult
    public func enableSpecialLoop(_ id: LoopKey, rest: Duration? = nil) -> Bool {
        enableSpecialLoop(id, rest: rest, isFound: false)
    }

    /// Creates a special loop. A loop that a turn found is polled in the same cycle, since it has nothing yet.
    @discardableResult
    fileprivate func enableSpecialLoop(_ id: LoopKey, rest: Duration? = nil, isFound: Bool) -> Bool {
        guard id != machine.coreKey, let loop = makeSpecial(id, delegate) else { return false }
        loops[id] = loop
        apply {
            $0.enable(
                id, limits: loop.limits, interval: loop.interval, isCore: false, isFound: isFound, rest: rest, at: $1)
        }
        return true
    }

    /// Stops a special loop. Its queued operations are dropped; its operation in progress is cancelled, and the result
    /// is dropped.
    public func disableSpecialLoop(_ id: LoopKey) {
        guard id != machine.coreKey else { return }
        loops[id] = nil
        apply { $0.disable(id, at: $1) }
    }

    /// Stops the core loop in the same way.
    public func disableCoreLoop() {
        guard let id = machine.coreKey else { return }
        loops[id] = nil
        apply { $0.disable(id, at: $1) }
    }

    /// Refills at once, and then at each period. Does nothing if the scheduler has started already. Loops that waited
    /// because of failures or rejected credentials are tried again.
    public func start() { apply { $0.start(at: $1) } }

    /// Stops polling and drops the operations that are queued or in progress. Returns when the call in progress has
    /// ended, or when `grace` is over. Returns at once if the loop that is running calls this function. Loops stay
    /// enabled.
    public func suspend() async { await stop { $0.suspend(at: $1) } }

    /// Suspends and forgets the special loops. The core loop stays enabled.
    public func reset() async {
        loops = loops.filter { $0.key == machine.coreKey }
        await stop { $0.reset(at: $1) }
    }

    /// Suspends and forgets all loops.
    /// - Parameter dropAnchors: Removes the stored event ids. It is called when no operation stores anything any more.
    /// - Throws: The errors of `dropAnchors`; the loops are forgotten in that case too.
    public func logout(dropAnchors: @Sendable () async throws -> Void) async rethrows {
        loops = [:]
        await stop { $0.logout(at: $1) }
        try await dropAnchors()
    }

    /// Polls the core loop before all waiting loops. Frequent triggers are gathered: triggered loops are polled at most
    /// once a second, and half of the time is left to the other loops. Running and waiting operations go on.
    public func triggerCoreLoop() { apply { $0.trigger(special: nil, at: $1) } }

    /// Polls the core loop and then this special loop, in the same way; polls only the core loop if the id is unknown.
    /// Does nothing while the scheduler is suspended, or while the server has asked to wait.
    public func triggerSpecialLoop(_ id: LoopKey) { apply { $0.trigger(special: id, at: $1) } }

    /// Polls every enabled loop until nothing is left, including loops that are enabled meanwhile, whether the
    /// scheduler was started or not. Returns when that is done or when the scheduler was suspended. If the caller is
    /// cancelled, a scheduler that was not started is suspended.
    /// - Parameter wanted: The loops to poll, as far as they are enabled; nil polls all.
    public func runOnce(only wanted: Set<LoopKey>? = nil) async {
        apply { $0.runOnce(wanted, at: $1) }
        guard machine.once != nil else { return }
        await waitForEnd(of: nil)
        if Task.isCancelled, !machine.isStarted { await suspend() }
    }

    /// Returns the loops that still had more after a thousand pages when the last single run ended.
    public func leftByLastRun() -> [LoopKey] { machine.left }

    private func stop(_ input: (inout SchedulerMachine, Duration) -> [SchedulerMachine.Effect]) async {
        let running = machine.running?.operation.id
        apply(input)
        guard let running, machine.running?.operation.id == running,
            Self.place != Place(scheduler: ObjectIdentifier(self), operation: running)
        else { return }
        await waitForEnd(of: running)
    }

    private func waitForEnd(of operation: UInt64?) async {
        let (ends, end) = AsyncStream<Void>.makeStream()
        waiting.append((operation, end))
        for await _ in ends {}
    }

    private func apply(_ input: (inout SchedulerMachine, Duration) -> [SchedulerMachine.Effect]) {
        for effect in input(&machine, clock.monotonic()) {
            switch effect {
            case .run(let operation): run(operation)
            case .cancel(let operation): calls[operation]?.cancel()
            case .setTimer(let time): setTimer(time)
            case .report(let report): onTurn(report)
            }
        }
        waiting.removeAll { waiter in
            let isOver = waiter.operation.map { $0 != machine.running?.operation.id } ?? (machine.once == nil)
            if isOver { waiter.end.finish() }
            return isOver
        }
    }

    private func run(_ operation: LoopOperation) {
        guard let loop = loops[operation.loop] else {
            preconditionFailure("An operation of a loop that is not enabled.")
        }
        let id = operation.id
        let place = Place(scheduler: ObjectIdentifier(self), operation: id)
        calls[id] = Task { [weak self] in
            let outcome: TurnOutcome? = await Self.$place.withValue(place) {
                switch operation.work {
                case .turn(let chain):
                    return await loop.takeTurn(chain) { [weak self] stage in await self?.enter(stage, of: id) ?? false }
                case .report(let error):
                    await loop.onError(error)
                    return nil
                }
            }
            await self?.finished(id, outcome)
        }
    }

    private func enter(_ stage: TurnStage, of operation: UInt64) -> Bool {
        var isWanted = false
        apply { machine, now in
            let entered = machine.enter(stage, of: operation, at: now)
            isWanted = entered.isWanted
            return entered.effects
        }
        return isWanted
    }

    private func finished(_ operation: UInt64, _ outcome: TurnOutcome?) {
        calls[operation] = nil
        apply { $0.finished(operation, outcome, at: $1) }
    }

    private func setTimer(_ time: Duration?) {
        timer?.cancel()
        timer = time.map { time in
            // The task holds the scheduler only when the timer fires.
            Task { [weak self, clock] in
                do { try await clock.sleep(max(time - clock.monotonic(), .zero)) } catch { return }
                await self?.woke()
            }
        }
    }

    private func woke() { apply { $0.wake(at: $1) } }
}

private final class Delegate: LoopDelegate {
    private weak let scheduler: EventsPeriodicScheduler?

    init(scheduler: EventsPeriodicScheduler) { self.scheduler = scheduler }

    func enableSpecialLoop(_ id: LoopKey) async { await scheduler?.enableSpecialLoop(id, isFound: true) }
    func disableSpecialLoop(_ id: LoopKey) async { await scheduler?.disableSpecialLoop(id) }
}

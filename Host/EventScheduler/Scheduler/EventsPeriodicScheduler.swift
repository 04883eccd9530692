public import Model

/// Polls the event loops of one account, one after another, at a period.
///
/// Loops are enabled and disabled by their ids at any time; the scheduler makes them itself. ``start()`` and
/// ``suspend()`` follow the program's life: online, offline, going to sleep. A refill polls all loops that are enabled
/// and due, the core loop first, and comes only when the last one is done.
///
///     let scheduler = EventsPeriodicScheduler(core: { MyCore($0, tells: $1) }, special: { id, _ in MyCalendar(id) })
///     await scheduler.enableCoreLoop(.core)
///     await scheduler.start()
///
/// Idle loops have neither task nor timer. A scheduler that is released ends its timer and cancels its call.
public actor EventsPeriodicScheduler {
    private let clock: HostClock
    private let makeCore: @Sendable (LoopKey, any LoopDelegate) -> any EventLoop
    private let makeSpecial: @Sendable (LoopKey, any LoopDelegate) -> (any EventLoop)?
    private let onTurn: @Sendable (TurnReport) -> Void

    private(set) var machine: SchedulerMachine
    private var loops: [LoopKey: any EventLoop] = [:]
    private var timer: Task<Void, Never>?
    /// The call under way, and those that were cancelled and have not ended.
    private(set) var calls: [UInt64: Task<Void, Never>] = [:]
    /// Who waits for the end of a single run, or of an operation.
    private var waiting: [(operation: UInt64?, end: AsyncStream<Void>.Continuation)] = []

    /// Which scheduler's operation a task belongs to.
    private struct Place: Hashable, Sendable {
        var scheduler: ObjectIdentifier
        var operation: UInt64
    }
    @TaskLocal private static var place: Place?

    /// Makes a scheduler that polls nothing yet.
    /// - Parameters:
    ///   - period: between two refills, above zero.
    ///   - grace: how long a call that was cancelled may take to end before the others go on.
    ///   - random: from 0 to 1, without 1: by how much refills come early or late, so that many hosts do not ask at once.
    ///   - core: makes a core loop when it is enabled: the first of every cycle, which mostly tells of the others' coming and going.
    ///   - special: makes a special loop when it is enabled, of whatever type the id asks for; nil: there is none for it.
    ///   - onTurn: is told of each turn, in order, before the next one begins. It must not block.
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

    /// What a loop gets of the scheduler.
    public nonisolated var delegate: any LoopDelegate { Delegate(scheduler: self) }

    /// What is polled. Does not wait for a call under way.
    public func currentlyEnabled() -> EnabledLoops { machine.enabled }

    /// Makes the core loop with this id and has it polled from the next refill on, in place of the one before.
    /// - Parameter rest: how long it is not polled yet, since it had nothing to poll a while ago.
    public func enableCoreLoop(_ id: LoopKey = .core, rest: Duration? = nil) {
        let loop = makeCore(id, delegate)
        if let old = machine.coreKey { loops[old] = nil }
        loops[id] = loop
        apply { $0.enable(id, limits: loop.limits, interval: loop.interval, isCore: true, rest: rest, at: $1) }
    }

    /// Makes the special loop with this id and has it polled from the next refill on, after those that were enabled before. One with
    /// this id that is enabled already is replaced: what of it is queued or under way is dropped.
    /// - Parameter rest: how long it is not polled yet, since it had nothing to poll a while ago.
    /// - Returns: false if there is no loop for this id, or it is the core loop's.
    @discardableResult
    public func enableSpecialLoop(_ id: LoopKey, rest: Duration? = nil) -> Bool {
        guard id != machine.coreKey, let loop = makeSpecial(id, delegate) else { return false }
        loops[id] = loop
        apply { $0.enable(id, limits: loop.limits, interval: loop.interval, isCore: false, rest: rest, at: $1) }
        return true
    }

    /// Stops a special loop: what of it is queued vanishes, what is under way is cancelled, its result dropped.
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

    /// Refills at once, and then at each period. Does nothing if it has started already. What waited because of failures or
    /// refused credentials is tried again.
    public func start() { apply { $0.start(at: $1) } }

    /// Stops polling and drops what is queued and under way. Returns when the call under way has ended, or has not for as long as
    /// `grace`; at once if called by the loop that is running. Loops stay enabled.
    public func suspend() async { await stop { $0.suspend(at: $1) } }

    /// Suspends and forgets the special loops. The core loop stays enabled.
    public func reset() async {
        loops = loops.filter { $0.key == machine.coreKey }
        await stop { $0.reset(at: $1) }
    }

    /// Suspends and forgets all loops.
    /// - Parameter dropAnchors: removes the stored event ids, when nothing stores any more.
    /// - Throws: What `dropAnchors` throws; the loops are forgotten then too.
    public func logout(dropAnchors: @Sendable () async throws -> Void) async rethrows {
        loops = [:]
        await stop { $0.logout(at: $1) }
        try await dropAnchors()
    }

    /// Polls the core loop before all that waits. Triggers that come often are gathered: at once is once a second at most, and half of the
    /// time is the others'. What runs or waits is not given up.
    public func triggerCoreLoop() { apply { $0.trigger(special: nil, at: $1) } }

    /// Polls the core loop and then this one, in the same way; only the core loop if the id is unknown. Does nothing while suspended, or while
    /// the server has asked to wait.
    public func triggerSpecialLoop(_ id: LoopKey) { apply { $0.trigger(special: id, at: $1) } }

    /// Polls every enabled loop until nothing is left, also those that are enabled meanwhile, whether started or not. Returns
    /// when that is done, or the scheduler was suspended; a caller that is cancelled suspends one that was not started.
    /// - Parameter wanted: only these, as far as they are enabled; nil: all.
    public func runOnce(only wanted: Set<LoopKey>? = nil) async {
        apply { $0.runOnce(wanted, at: $1) }
        guard machine.once != nil else { return }
        await waitForEnd(of: nil)
        if Task.isCancelled, !machine.isStarted { await suspend() }
    }

    /// The loops that still had more after a thousand pages when the last single run ended.
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
            // Holds the scheduler only when it fires.
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

    func enableSpecialLoop(_ id: LoopKey) async { await scheduler?.enableSpecialLoop(id) }
    func disableSpecialLoop(_ id: LoopKey) async { await scheduler?.disableSpecialLoop(id) }
}

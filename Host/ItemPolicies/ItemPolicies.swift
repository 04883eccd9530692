public import Logging
public import Model
public import PluginHost
public import Storage
import Synchronization

/// Sets an account's item-policy processors to work: queues runs, and makes each processor's calls in a run.
public final class ItemPolicies: Sendable {
    struct State {
        var queue = RunQueue()
        /// Whether it is to be seen if there is room again for what processors left.
        var isCapacityDue = false
        var isWorking = false
        var isEnded = false
        var waiters: [CheckedContinuation<Void, Never>] = []
        var failures: [Failure] = []
    }

    let database: Database
    let sink: any IntentSink
    let clock: HostClock
    /// What conditions take for `now`.
    let believed: @Sendable (Timestamp) -> Timestamp
    /// The folder of the local copies.
    let files: String
    let seats: [ProcessorSeat]
    private let logger: Logger
    let state = Mutex(State())
    private let version = Atomic<Int>(1)
    private let usage = Mutex<(anchor: Int64, usage: LocalUsage)?>(nil)
    private let asked = Mutex(AskCounter())
    private let wakes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - plugins: the account's started plugins; those without a processor are left aside.
    ///   - sink: what carries out the actions that processors ask for.
    ///   - files: the folder of the local copies, absolute.
    ///   - believed: what conditions take for `now` when the clock says this; earlier, while the clock is not to be believed.
    public init(
        database: Database, plugins: [PluginInstance], sink: any IntentSink, files: String, clock: HostClock = .system,
        believed: @escaping @Sendable (Timestamp) -> Timestamp = { $0 }, logger: Logger
    ) {
        self.database = database
        self.sink = sink
        self.files = files
        self.clock = clock
        self.believed = believed
        self.logger = logger
        seats = plugins.filter { $0.kind != nil }.sorted { FirstParty.precedes($0.plugin, $1.plugin) }
            .map(ProcessorSeat.init)
        (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Rises with each change of policies.
    public var policiesVersion: Int { version.load(ordering: .acquiring) }

    /// The kinds of policies that are processed here.
    public var kinds: Set<PolicyKind> { Set(seats.compactMap(\.instance.kind)) }

    // MARK: What sets runs off. Never blocks; may be called on any thread.

    /// A transaction was committed. To be called by the database's observer itself, before the commit returns, so that what
    /// a run set off is told from what came from outside.
    public func databaseChanged(_ summary: CommitSummary) {
        if summary.policiesChanged { version.add(1, ordering: .releasing) }
        if summary.recordsChanged { lookAtCapacity() }
        guard summary.changesItems || summary.triggersPolicies else { return }
        enqueue { $0.add(summary) }
    }

    /// A trigger after which all items are looked at. One that waits already is not queued twice, but for `policiesChanged`.
    public func fire(_ trigger: Trigger) {
        if trigger == .itemListUpdateCompleted || trigger == .policiesChanged { asked.withLock { $0.reset() } }
        enqueue { $0.add(trigger) }
    }

    /// Something was done that no processor did: what is asked for now is asked for anew.
    public func changedFromOutside() { asked.withLock { $0.reset() } }

    private func enqueue(_ change: (inout RunQueue) -> Void) {
        guard !seats.isEmpty else { return }
        state.withLock { change(&$0.queue) }
        wake.yield()
    }

    // MARK: The work

    /// Makes the runs as they come, until the task is cancelled; the plugins' instances are good for being stopped then. Called
    /// once.
    public func run() async {
        await withTaskCancellationHandler {
            for await _ in wakes {
                while !Task.isCancelled, let work = takeNext() {
                    switch work {
                    case .run(let run): await perform(run)
                    case .capacity: await queueWhatWasLeft()
                    }
                }
                if Task.isCancelled { break }
            }
        } onCancel: {
            // A pass over many items ends at the next one.
            for seat in seats { seat.instance.cancel() }
        }
        let waiters = state.withLock { state in
            state.isEnded = true
            return rest(&state)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when no run waits or is under way, or ``run()`` has ended.
    public func settled() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                let isSettled = state.isEnded || !state.isWorking && !state.isCapacityDue && state.queue.waiting.isEmpty
                if !isSettled { state.waiters.append(continuation) }
                return isSettled
            }
            if isSettled { continuation.resume() }
        }
    }

    /// What kept runs from being finished, since this was asked last.
    public func takeFailures() -> [Failure] {
        state.withLock { state in
            defer { state.failures = [] }
            return state.failures
        }
    }

    /// Whether a stored policy of a plugin's kind covers an item; without any policy of the kind, whether the plugin itself
    /// says so. Blocks for a read when policies have changed.
    /// - Returns: true for a plugin that has no processor here, which nothing is known of.
    public func covers(_ item: Item, for plugin: PluginID) throws -> Bool {
        guard let seat = seats.first(where: { $0.plugin == plugin }) else { return true }
        let condition = try seat.coverage(version: version.load(ordering: .acquiring), in: database)
        return condition?.matches(item, now: clock.now()) ?? false
    }

    private enum Work {
        case run(RunQueue.Run)
        /// To see whether there is room again for what processors left.
        case capacity
    }

    private func takeNext() -> Work? {
        let (work, waiters) = state.withLock { state -> (Work?, [CheckedContinuation<Void, Never>]) in
            let work = state.isCapacityDue ? .capacity : state.queue.next().map(Work.run)
            state.isCapacityDue = false
            state.isWorking = work != nil
            return (work, work == nil ? rest(&state) : [])
        }
        for waiter in waiters { waiter.resume() }
        return work
    }

    private func rest(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        state.isWorking = false
        defer { state.waiters = [] }
        return state.waiters
    }

    private func perform(_ run: RunQueue.Run) async {
        guard run.round <= RunQueue.mostRounds else {
            let names = run.askers.sorted().map(\.text).joined(separator: ", ")
            report(
                Failure(
                    .failed,
                    "Item policies did not come to rest: \(RunQueue.mostRounds) rounds followed each other without a change from outside; asked for by \(names)",
                    hint: "Look at the policies that these processors process, or disable one of them"))
            return
        }
        for seat in seats where run.cause.concerns(seat.plugin) {
            let version = version.load(ordering: .acquiring)
            do {
                try await seat.instance.withProcessor { [self] calls in
                    let pass = ProcessorRun(self, seat: seat, calls: calls, run: run, policiesVersion: version)
                    try pass.perform()
                }
            } catch is CancellationError {
                return
            } catch let failure as Failure {
                report(failure, of: seat.plugin, run)
            } catch {
                report(Failure(.internal, "\(error)"), of: seat.plugin, run)
            }
        }
        // Records may have ended before it was known that items were left.
        lookAtCapacity()
    }

    /// Whether a processor's wish for an item, set off by a change of that item, is still carried out.
    func mayAsk(_ item: LocalID, plugin: PluginID) -> Bool {
        let (isAllowed, isFirst) = asked.withLock { $0.mayAsk(item) }
        if isFirst {
            report(
                Failure(
                    .failed,
                    "Item policies do not come to rest: again and again something is asked for the same item, at last by \(plugin), without a change from outside",
                    hint: "Look at the policies that processors process, or disable one of them"))
        }
        return isAllowed
    }

    /// What is here in a session's state. It is counted once for each state.
    func localUsage(in session: ReadSession) throws(Failure) -> LocalUsage {
        let anchor = try session.anchor()
        if let known = usage.withLock({ $0 }), known.anchor == anchor { return known.usage }
        let counted = try session.localUsage()
        usage.withLock { $0 = (anchor, counted) }
        return counted
    }

    func noteAsked(_ item: LocalID) { asked.withLock { $0.note(item) } }

    /// A run's transaction was committed.
    func followed(_ summary: CommitSummary, run: RunQueue.Run, asker: PluginID) {
        state.withLock { $0.queue.follow(summary, round: run.round, asker: asker) }
    }

    private func report(_ failure: Failure, of plugin: PluginID, _ run: RunQueue.Run) {
        var failure = failure
        failure.message = "\(plugin) could not finish its run for \(run.cause.trigger.name): \(failure.message)"
        report(failure)
    }

    func report(_ failure: Failure) {
        logger.error("\(failure)")
        state.withLock { state in
            if state.failures.count < 100 { state.failures.append(failure) }
        }
    }
}

public import Database
public import Logging
public import Model
public import PluginHost
import Synchronization
import Threads

/// The item-policy processors of an account at work. It queues runs, and makes each processor's calls in a run.
public final class ItemPolicies: Sendable {
    struct State: Sendable {
        var queue = RunQueue()
        /// Whether to check if there is room again for the items that processors left.
        var isCapacityDue = false
        var isWorking = false
        var isEnded = false
        var failures: [Failure] = []
        /// The number of the last run that was made, as ``RunQueue/taken``.
        var made = 0
        /// The errors of the runs that tasks wait for, by the runs' numbers, with the number of those tasks.
        var awaited: [Int: (tasks: Int, failures: [Failure])] = [:]

        var isIdle: Bool { isEnded || !isWorking && !isCapacityDue && queue.waiting.isEmpty }

        /// Tells the tasks that wait for the run in progress of an error.
        mutating func tellAwaiting(_ failure: Failure) { awaited[queue.taken]?.failures.append(failure) }
    }

    let database: Database
    let sink: any IntentSink
    let clock: HostClock
    let world: @Sendable (Timestamp) -> ClaimWorld
    /// The folder of the local copies.
    let files: String
    let processors: [PolicyProcessor]
    let logger: Logger
    let state = Monitor(State())
    private let version = Atomic<Int>(1)
    /// A count of the changes of what policies and processors cover.
    private let coverage = Atomic<Int>(0)
    private let usage = Mutex<(anchor: Int64, usage: LocalUsage)?>(nil)
    private let asked = Mutex(AskCounter())
    private let wakes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    /// Creates the processors of an account.
    /// - Parameters:
    ///   - database: The account's database.
    ///   - plugins: The account's started plugins, in the order in which their processors are called; those without a
    ///     processor are skipped.
    ///   - sink: The sink that carries out the actions that processors request.
    ///   - files: The absolute path of the folder of the local copies.
    ///   - world: Returns the facts on which claims depend, at a time.
    ///   - clock: The account's clock.
    ///   - logger: The account's logger.
    public init(
        database: Database, plugins: [PluginInstance], sink: any IntentSink, files: String,
        world: @escaping @Sendable (Timestamp) -> ClaimWorld, clock: HostClock = .system, logger: Logger
    ) {
        self.database = database
        self.sink = sink
        self.files = files
        self.clock = clock
        self.world = world
        self.logger = logger
        processors = plugins.filter { $0.kind != nil }.map(PolicyProcessor.init)
        (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The version of the policies, which rises with each change of policies.
    public var policiesVersion: Int { version.load(ordering: .acquiring) }

    /// The kinds of policies that are processed here.
    public var kinds: Set<PolicyKind> { Set(processors.compactMap(\.instance.kind)) }

    /// The highest number of records in progress at a time, for each processor that has a maximum.
    public var maximums: [DownloadTrigger: Int] {
        processors.reduce(into: [:]) { maximums, processor in
            if let most = processor.instance.maximumRecords { maximums[DownloadTrigger(of: processor.plugin)] = most }
        }
    }

    // MARK: Starting runs. These functions never block and may be called on any thread.

    /// Queues the runs that follow from a committed transaction. The database's observer calls this function itself,
    /// before the commit returns, so that changes by a run can be told from changes from outside.
    public func databaseChanged(_ changes: CommitChanges) {
        if changes.policiesChanged {
            version.add(1, ordering: .releasing)
            coverageChanged()
        }
        if changes.recordsChanged { checkCapacity() }
        guard changes.changesItems || changes.triggersPolicies || !changes.collections.isEmpty else { return }
        enqueue { $0.add(changes) }
    }

    /// Queues a run for a trigger that checks all items. A trigger that is already waiting is not queued twice, except
    /// `policiesChanged`.
    public func fire(_ trigger: Trigger) {
        if trigger == .itemListUpdateCompleted || trigger == .policiesChanged { asked.withLock { $0.reset() } }
        enqueue { $0.add(trigger) }
    }

    /// Queues a run for a trigger that checks all items, as ``fire(_:)``, and waits until ``run()`` has made it.
    /// - Returns: The errors that kept the run from being finished.
    /// - Throws: `CancellationError` if the task is cancelled. The run is made all the same.
    public func fireAndWait(_ trigger: Trigger) async throws(CancellationError) -> [Failure] {
        guard !processors.isEmpty else { return [] }
        let number = state.change { state in
            let number = state.queue.add(trigger)
            state.awaited[number, default: (0, [])].tasks += 1
            return number
        }
        defer {
            state.change { state in
                state.awaited[number]?.tasks -= 1
                if state.awaited[number]?.tasks == 0 { state.awaited[number] = nil }
            }
        }
        wake.yield()
        try await state.waitUnlessCancelled { $0.isEnded || $0.made >= number }
        return state.with { $0.awaited[number]?.failures ?? [] }
    }

    /// Queues a run as after a change of policies, because a copy came after the run that followed from the change, and
    /// no policy covers it any more.
    public func cameUncovered() { enqueue { $0.add(.policiesChanged) } }

    /// Whether a run that follows from a change of policies was queued and not made.
    public var owesPolicies: Bool { state.with { $0.queue.waiting.contains { $0.cause == .all(.policiesChanged) } } }

    /// Notes a change that no processor made, so that requests count anew.
    public func changedFromOutside() { asked.withLock { $0.reset() } }

    private func enqueue(_ change: (inout RunQueue) -> Void) {
        guard !processors.isEmpty else { return }
        state.change { change(&$0.queue) }
        wake.yield()
    }

    // MARK: Runs

    /// Makes the runs as they are queued, until the task is cancelled. After that, the plugins' instances are only fit
    /// for being stopped. May be called only once.
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
            // A pass over many items ends at the next item.
            for processor in processors { processor.instance.cancel() }
        }
        state.change { state in
            state.isEnded = true
            state.isWorking = false
        }
    }

    /// Whether no run waits or is in progress.
    public var isIdle: Bool { state.with(\.isIdle) }

    /// Returns when no run waits or is in progress, or when ``run()`` has ended.
    public func waitUntilIdle() async {
        await state.wait { $0.isIdle }
    }

    /// Returns as ``waitUntilIdle()``.
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func waitUntilIdleUnlessCancelled() async throws(CancellationError) {
        try await state.waitUnlessCancelled { $0.isIdle }
    }

    /// Returns the errors that kept runs from being finished since the last call.
    public func takeFailures() -> [Failure] {
        state.change { state in
            defer { state.failures = [] }
            return state.failures
        }
    }

    /// Tells whether a stored policy of a plugin's kind, or the plugin by itself, covers an item. Blocks for a read
    /// when policies have changed.
    /// - Parameters:
    ///   - item: The item.
    ///   - plugin: The plugin's id.
    /// - Returns: True for a plugin that has no processor here, because nothing is known of it; nil as long as the
    ///   plugin has not said what it covers by itself, which it does in its first run.
    /// - Throws: `.badData` if a stored policy's condition does not parse, or the database's `Failure`, as
    ///   ``Database/readBlocking(_:)``.
    public func covers(_ item: Item, for plugin: PluginID) throws -> Bool? {
        guard let processor = processors.first(where: { $0.plugin == plugin }) else { return true }
        return try processor.covers(
            item, version: version.load(ordering: .acquiring), now: clock.agesTo(), in: database)
    }

    /// A number that differs from an earlier one if ``covers(_:for:)`` may say something else of any item than it did
    /// then, other than by the passing of time. Callable on any thread.
    public var coverageVersion: Int { coverage.load(ordering: .acquiring) }

    func coverageChanged() { coverage.add(1, ordering: .releasing) }

    private enum Work {
        case run(RunQueue.Run)
        /// A check whether there is room again for the items that processors left.
        case capacity
    }

    private func takeNext() -> Work? {
        state.change { state in
            state.made = state.queue.taken
            let work = state.isCapacityDue ? .capacity : state.queue.next().map(Work.run)
            state.isCapacityDue = false
            state.isWorking = work != nil
            return work
        }
    }

    private func perform(_ run: RunQueue.Run) async {
        guard run.round <= RunQueue.mostRounds else {
            let names = run.askers.sorted().map(\.text).joined(separator: ", ")
            let item = await firstItem(of: run).map { ", the last time about \($0)" } ?? ""
            report(
                Failure(
                    .failed,
                    "Item policies did not finish: \(RunQueue.mostRounds) rounds followed each other without a "
                        + "change from outside\(item); requested by \(names)",
                    hint: "Check the policies that these processors process, or disable one of them"))
            return
        }
        var checksCapacity = run.cause.trigger != .syncCapacity
        for processor in processors where run.cause.concerns(processor.plugin) {
            let version = version.load(ordering: .acquiring)
            do {
                let isFruitful = try await processor.instance.withProcessor { [self] calls in
                    // The processor first makes up for missed runs by checking all items.
                    var runs = [run]
                    if processor.takeMissed() { runs.insert(RunQueue.Run(cause: .all(.policiesChanged)), at: 0) }
                    var isFruitful = false
                    for run in runs {
                        let pass = ProcessorRun(
                            self, processor: processor, calls: calls, run: run, policiesVersion: version)
                        try pass.perform()
                        if pass.isFruitful { isFruitful = true }
                    }
                    return isFruitful
                }
                if isFruitful { checksCapacity = true }
            } catch is CancellationError {
                return
            } catch is PluginHangs {
                // The hanging call was reported already. The other processors go on.
                processor.miss()
                if let failure = processor.hangs { state.change { $0.tellAwaiting(failure) } }
            } catch let failure as Failure {
                report(failure, of: processor.plugin, run)
            } catch {
                report(Failure(.internal, "\(error)"), of: processor.plugin, run)
            }
        }
        // Records may have ended before it was known that items were left. A run for these items that had no effect
        // would only be followed by the same run again.
        if checksCapacity { checkCapacity() }
    }

    /// Returns the path of the first item of a run; nil if the run is not about single items, or if the item cannot be
    /// read.
    private func firstItem(of run: RunQueue.Run) async -> ItemPath? {
        guard case .items(let ids, _) = run.cause, let id = ids.first else { return nil }
        do { return try await database.read { try $0.items.item(databaseID: id)?.path } } catch {
            logger.debug("The first item of a run cannot be read: \(error)")
            return nil
        }
    }

    /// Tells whether a processor's wish for an item, caused by a change of that item, is still carried out.
    /// - Returns: The reason not to carry it out; nil if it is carried out.
    func objection(
        to wish: AskCounter.Wish, for item: LocalID, plugin: PluginID, path: () -> ItemPath?
    ) -> String? {
        guard case .refused(let isFirst, let isTurn, let former) = asked.withLock({ $0.mayAsk(item, wish) }) else {
            return nil
        }
        let name = path().map(\.text) ?? "the item \(item)"
        // One plugin alone may be at fault, but which one it is nobody can tell.
        let who = former == plugin ? "\(plugin)" : "\(former) and \(plugin)"
        let what =
            isTurn
            ? "\(name) is downloaded and removed in turn by \(who)"
            : "the same action for \(name) is requested again and again, by \(who)"
        if isFirst {
            report(
                Failure(
                    .failed, "Item policies do not finish: \(what), without a change from outside",
                    hint: "Check the policies that these processors process, or disable one of them"))
        }
        return "\(what), without a change from outside"
    }

    /// Returns the usage by local copies in a session's state. The usage is counted once for each state.
    func localUsage(in session: ReadSession) throws(Failure) -> LocalUsage {
        let anchor = try session.anchor()
        if let known = usage.withLock({ $0 }), known.anchor == anchor { return known.usage }
        let counted = try session.localUsage()
        usage.withLock { $0 = (anchor, counted) }
        return counted
    }

    func noteAsked(_ items: some Sequence<LocalID>, _ wish: AskCounter.Wish, by plugin: PluginID) {
        asked.withLock { for item in items { $0.note(item, wish, by: plugin) } }
    }

    /// Marks the runs that follow from a run's own committed transaction as follow-ups.
    func followed(_ changes: CommitChanges, run: RunQueue.Run, asker: PluginID) {
        state.change { $0.queue.follow(changes, round: run.round, asker: asker) }
    }

    private func report(_ failure: Failure, of plugin: PluginID, _ run: RunQueue.Run) {
        var failure = failure
        failure.message = "\(plugin) could not finish its run for \(run.cause.trigger.name): \(failure.message)"
        report(failure)
    }

    /// Remembers a plugin's mistakes in a run. They are logged already.
    func note(_ mistakes: String, of plugin: PluginID, _ run: RunQueue.Run) {
        remember(
            Failure(
                .failed, "\(plugin), in its run for \(run.cause.trigger.name): \(mistakes)",
                hint: .traceCalls))
    }

    func report(_ failure: Failure) {
        logger.error("\(failure.message)", metadata: failure.hint.map { ["hint": .stringConvertible($0)] })
        remember(failure)
    }

    private func remember(_ failure: Failure) {
        state.change { state in
            if state.failures.count < 100 { state.failures.append(failure) }
            state.tellAwaiting(failure)
        }
    }
}

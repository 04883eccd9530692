public import Database
public import Logging
public import Model
public import PluginHost
import Synchronization
import Threads

/// Sets an account's item-policy processors to work: queues runs, and makes each processor's calls in a run.
public final class ItemPolicies: Sendable {
    struct State: Sendable {
        var queue = RunQueue()
        /// Whether it is to be seen if there is room again for what processors left.
        var isCapacityDue = false
        var isWorking = false
        var isEnded = false
        var failures: [Failure] = []

        var isIdle: Bool { isEnded || !isWorking && !isCapacityDue && queue.waiting.isEmpty }
    }

    let database: Database
    let sink: any IntentSink
    let clock: HostClock
    let world: @Sendable (Timestamp) -> ClaimWorld
    /// The folder of the local copies.
    let files: String
    let processors: [PolicyProcessor]
    private let logger: Logger
    let state = Monitor(State())
    private let version = Atomic<Int>(1)
    private let usage = Mutex<(anchor: Int64, usage: LocalUsage)?>(nil)
    private let asked = Mutex(AskCounter())
    private let wakes: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - plugins: the account's started plugins; those without a processor are left aside.
    ///   - sink: what carries out the actions that processors ask for.
    ///   - files: the folder of the local copies, absolute.
    ///   - world: what claims depend on, at a time.
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
        processors = plugins.filter { $0.kind != nil }.sorted { FirstParty.precedes($0.plugin, $1.plugin) }
            .map(PolicyProcessor.init)
        (wakes, wake) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Rises with each change of policies.
    public var policiesVersion: Int { version.load(ordering: .acquiring) }

    /// The kinds of policies that are processed here.
    public var kinds: Set<PolicyKind> { Set(processors.compactMap(\.instance.kind)) }

    /// How many records of those processors may be under way at a time that have a maximum.
    public var maximums: [DownloadTrigger: Int] {
        processors.reduce(into: [:]) { maximums, processor in
            if let most = processor.instance.maximumRecords { maximums[DownloadTrigger(of: processor.plugin)] = most }
        }
    }

    // MARK: What sets runs off. Never blocks; may be called on any thread.

    /// A transaction was committed. To be called by the database's observer itself, before the commit returns, so that what
    /// a run set off is told from what came from outside.
    public func databaseChanged(_ changes: CommitChanges) {
        if changes.policiesChanged { version.add(1, ordering: .releasing) }
        if changes.recordsChanged { checkCapacity() }
        guard changes.changesItems || changes.triggersPolicies else { return }
        enqueue { $0.add(changes) }
    }

    /// A trigger after which all items are looked at. One that waits already is not queued twice, but for `policiesChanged`.
    public func fire(_ trigger: Trigger) {
        if trigger == .itemListUpdateCompleted || trigger == .policiesChanged { asked.withLock { $0.reset() } }
        enqueue { $0.add(trigger) }
    }

    /// Something was done that no processor did: what is asked for now is asked for anew.
    public func changedFromOutside() { asked.withLock { $0.reset() } }

    private func enqueue(_ change: (inout RunQueue) -> Void) {
        guard !processors.isEmpty else { return }
        state.change { change(&$0.queue) }
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
            for processor in processors { processor.instance.cancel() }
        }
        state.change { state in
            state.isEnded = true
            state.isWorking = false
        }
    }

    /// Returns when no run waits or is under way, or ``run()`` has ended.
    public func waitUntilIdle() async {
        await state.wait { $0.isIdle }
    }

    /// What kept runs from being finished, since this was asked last.
    public func takeFailures() -> [Failure] {
        state.change { state in
            defer { state.failures = [] }
            return state.failures
        }
    }

    /// Whether a stored policy of a plugin's kind covers an item, or the plugin by itself. Blocks for a read when policies have
    /// changed.
    /// - Returns: true for a plugin that has no processor here, which nothing is known of; nil as long as it has not said what it
    ///   covers by itself, which it does in its first run.
    /// - Throws: `.badData` if a stored policy's condition does not parse, or the database's `Failure`, as
    ///   ``Database/readBlocking(_:)``.
    public func covers(_ item: Item, for plugin: PluginID) throws -> Bool? {
        guard let processor = processors.first(where: { $0.plugin == plugin }) else { return true }
        return try processor.covers(
            item, version: version.load(ordering: .acquiring), now: clock.agesTo(), in: database)
    }

    private enum Work {
        case run(RunQueue.Run)
        /// To see whether there is room again for what processors left.
        case capacity
    }

    private func takeNext() -> Work? {
        state.change { state in
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
                    "Item policies did not come to rest: \(RunQueue.mostRounds) rounds followed each other without a change from outside\(item); asked for by \(names)",
                    hint: "Look at the policies that these processors process, or disable one of them"))
            return
        }
        var checksCapacity = run.cause.trigger != .syncCapacity
        for processor in processors where run.cause.concerns(processor.plugin) {
            let version = version.load(ordering: .acquiring)
            do {
                let isFruitful = try await processor.instance.withProcessor { [self] calls in
                    // What it missed is looked at first, with all there is.
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
                // It was named. The others go on without it.
                processor.miss()
            } catch let failure as Failure {
                report(failure, of: processor.plugin, run)
            } catch {
                report(Failure(.internal, "\(error)"), of: processor.plugin, run)
            }
        }
        // Records may have ended before it was known that items were left. A run for these of which nothing came would only be followed
        // by the same one.
        if checksCapacity { checkCapacity() }
    }

    /// Where the first item is that a run is about; nil: it is about none alone, or that cannot be read.
    private func firstItem(of run: RunQueue.Run) async -> ItemPath? {
        guard case .items(let ids, _) = run.cause, let id = ids.first else { return nil }
        do { return try await database.read { try $0.items.item(databaseID: id)?.path } } catch {
            logger.debug("The first item of a run cannot be read: \(error)")
            return nil
        }
    }

    /// Whether a processor's wish for an item, set off by a change of that item, is still carried out.
    /// - Returns: nil: it is; else why not.
    func objection(
        to wish: AskCounter.Wish, for item: LocalID, plugin: PluginID, path: () -> ItemPath?
    ) -> String? {
        guard case .refused(let isFirst, let former) = asked.withLock({ $0.mayAsk(item, wish) }) else { return nil }
        let name = path().map(\.text) ?? "the item \(item)"
        let what =
            if let former {
                former == plugin
                    ? "\(name) is fetched and removed in turns, by \(plugin)"
                    : "\(name) is fetched and removed in turns, by \(former) and \(plugin)"
            } else { "again and again the same is asked for \(name), at last by \(plugin)" }
        if isFirst {
            report(
                Failure(
                    .failed, "Item policies do not come to rest: \(what), without a change from outside",
                    hint: "Look at the policies that these processors process, or disable one of them"))
        }
        return "\(what), without a change from outside"
    }

    /// What is here in a session's state. It is counted once for each state.
    func localUsage(in session: ReadSession) throws(Failure) -> LocalUsage {
        let anchor = try session.anchor()
        if let known = usage.withLock({ $0 }), known.anchor == anchor { return known.usage }
        let counted = try session.localUsage()
        usage.withLock { $0 = (anchor, counted) }
        return counted
    }

    func noteAsked(_ item: LocalID, _ wish: AskCounter.Wish, by plugin: PluginID) {
        asked.withLock { $0.note(item, wish, by: plugin) }
    }

    /// A run's transaction was committed.
    func followed(_ changes: CommitChanges, run: RunQueue.Run, asker: PluginID) {
        state.change { $0.queue.follow(changes, round: run.round, asker: asker) }
    }

    private func report(_ failure: Failure, of plugin: PluginID, _ run: RunQueue.Run) {
        var failure = failure
        failure.message = "\(plugin) could not finish its run for \(run.cause.trigger.name): \(failure.message)"
        report(failure)
    }

    /// What a plugin did wrong in a run, which is logged already.
    func note(_ mistakes: String, of plugin: PluginID, _ run: RunQueue.Run) {
        remember(
            Failure(
                .failed, "\(plugin), in its run for \(run.cause.trigger.name): \(mistakes)",
                hint: "`larder run --once --trace FILE` writes down each call"))
    }

    func report(_ failure: Failure) {
        logger.error("\(failure)")
        remember(failure)
    }

    private func remember(_ failure: Failure) {
        state.change { state in
            if state.failures.count < 100 { state.failures.append(failure) }
        }
    }
}

import Database
public import Model
import PluginHost

extension ItemPolicies {
    /// Makes the calls of a trigger for all items, and reports the requests of the processors instead of
    /// carrying them out. Nothing is written, so the database may be open for reading only. Must not run at the same
    /// time as ``run()``, which uses the same processors.
    /// - Parameters:
    ///   - trigger: The trigger. With `itemsChanged`, all items count as changed.
    ///   - note: Receives each request. It is called on the plugins' threads.
    /// - Throws: `.failed` while a call into a processor hangs, `CancellationError` if a plugin is being stopped, or the
    ///   database's `Failure`. A failed call throws no error; the run goes on.
    public func dryRun(_ trigger: Trigger, _ note: @escaping @Sendable (Wish) -> Void) async throws {
        for processor in processors {
            try await asking(processor) { [self] calls in
                try run(processor, calls, scope: nil, RunPreview(trigger, of: processor.plugin, note)).perform()
            }
        }
    }

    /// Returns every processor's decision about an item, found as in ``dryRun(_:_:)``: the decision now and, if the
    /// passing of time alone changes the decision, the decision at that time. It comes with what the processor itself
    /// says of the item.
    /// - Throws: As ``dryRun(_:_:)``, and `.badData` if a stored policy's condition does not parse.
    public func explain(_ item: Item) async throws -> [Explanation] {
        var explanations: [Explanation] = []
        for processor in processors {
            explanations.append(try await asking(processor) { [self] calls in try explain(item, processor, calls) })
        }
        return explanations
    }

    private func explain(_ item: Item, _ processor: PolicyProcessor, _ calls: ProcessorCalls) throws -> Explanation {
        var explanation = Explanation(plugin: processor.plugin, kind: calls.kind)
        let (kind, now) = (calls.kind, clock.agesTo())
        explanation.policies = try database.readBlocking { reads in
            try reads.policies.all(kind: kind, affecting: item, now: now).map(\.id)
        }
        let mask = calls.triggers()
        let order: [Trigger] = [.itemListUpdateCompleted, .policiesChanged] + Trigger.allCases.reversed()
        guard let trigger = order.first(where: { mask.contains(TriggerMask($0)) }) else {
            explanation.says = try says(of: item, order[0], processor, calls)
            return explanation
        }
        explanation.trigger = trigger
        let conditions: [ProcessorCalls.Pass: Condition]
        (conditions, explanation.now) = try wishes(for: item, trigger, at: now, processor, calls)
        explanation.says = try says(of: item, trigger, processor, calls)
        let (match, cleanup) = (conditions[.matching], conditions[.cleanup])
        explanation.matches = match?.matches(item, now: now) ?? false
        explanation.cleanup = cleanup?.matches(item, now: now) ?? false
        let changes = [match, cleanup].compactMap { condition in
            condition.flatMap { one in one.nextChange(for: item, after: now).map { (condition: one, change: $0) } }
        }
        let first = changes.min { $0.change.first < $1.change.first }
        explanation.change = first?.change
        let deciding =
            explanation.matches ? match : explanation.cleanup ? cleanup : first?.condition ?? match ?? cleanup
        explanation.because = deciding?.deciding(for: item, now: now)
        if let change = first?.change {
            explanation.then = try wishes(for: item, trigger, at: change.first, processor, calls).wishes
        }
        return explanation
    }

    /// Makes a processor's calls for a single item at a time.
    /// - Returns: The conditions that the processor gave, and its requests during the calls for the item.
    private func wishes(
        for item: Item, _ trigger: Trigger, at time: Timestamp, _ processor: PolicyProcessor, _ calls: ProcessorCalls
    ) throws -> (conditions: [ProcessorCalls.Pass: Condition], wishes: [Wish]) {
        var wishes: [Wish] = []
        let preview = RunPreview(trigger, of: processor.plugin, at: time) { wish in
            if wish.would != nil, Self.passCalls.contains(wish.call) { wishes.append(wish) }
        }
        try run(processor, calls, scope: [item.databaseID], preview).perform()
        return (preview.conditions, wishes)
    }

    /// Returns what a processor itself says of an item; nil if it says nothing, or could not be asked.
    private func says(
        of item: Item, _ trigger: Trigger, _ processor: PolicyProcessor, _ calls: ProcessorCalls
    ) throws -> String? {
        try run(processor, calls, scope: [item.databaseID], RunPreview(trigger, of: processor.plugin) { _ in })
            .explanation()
    }

    private static let passCalls: Set<String> = [
        "beginMatching", "performAction", "endMatching", "beginCleanup", "performCleanup", "endCleanup",
    ]

    private func run(
        _ processor: PolicyProcessor, _ calls: ProcessorCalls, scope: [ItemRowID]?, _ preview: RunPreview
    ) -> ProcessorRun {
        let cause: RunQueue.Cause = if let scope { .items(scope, anchor: 0) } else { .all(preview.trigger) }
        return ProcessorRun(
            self, processor: processor, calls: calls, run: RunQueue.Run(cause: cause), policiesVersion: policiesVersion,
            preview: preview)
    }

    /// Makes calls of a processor.
    private func asking<Result: Sendable>(
        _ processor: PolicyProcessor, _ body: @escaping @Sendable (ProcessorCalls) throws -> Result
    ) async throws -> Result {
        do { return try await processor.instance.withProcessor(body) } catch is PluginHangs {
            // Nothing is held against the plugin, as the hint for a host's run says.
            throw Failure(.failed, processor.hangs?.message ?? "the plugin \(processor.plugin.shortName) hangs")
        }
    }
}

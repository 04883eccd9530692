import Database
import Model

/// The queue of the runs that wait for their turn. A run never begins inside another: a later run handles the changes
/// that a run made.
struct RunQueue {
    enum Cause: Hashable {
        /// The items of one transaction: added, updated and removed items in this order, each once.
        case items([ItemRowID], anchor: Int64)
        /// A trigger that checks all items.
        case all(Trigger)
        /// Room for the items that this plugin left.
        case capacity(PluginID)

        var trigger: Trigger {
            switch self {
            case .items: .itemsChanged
            case .all(let trigger): trigger
            case .capacity: .syncCapacity
            }
        }

        /// Tells whether the plugin's processor is called.
        func concerns(_ plugin: PluginID) -> Bool { if case .capacity(let one) = self { one == plugin } else { true } }
    }

    struct Run {
        var cause: Cause
        /// The number of runs between this run and the change from outside that caused it.
        var round = 0
        /// The plugins whose wishes caused the run, if it is a follow-up.
        var askers: Set<PluginID> = []
    }

    /// The highest round of follow-ups. A longer series does not come to rest by itself.
    static let mostRounds = 20

    private(set) var waiting: [Run] = []
    /// The number of runs that were taken out of the queue.
    private(set) var taken = 0

    /// Queues a run for a trigger that a scan or the engine fired. A run for the same trigger that is already waiting
    /// will see everything there is to see.
    /// - Returns: The number of the run: the value of ``taken`` when its turn has come.
    @discardableResult
    mutating func add(_ trigger: Trigger) -> Int {
        if trigger != .policiesChanged,
            let same = waiting.firstIndex(where: { $0.cause == .all(trigger) && $0.round == 0 })
        {
            return taken + same + 1
        }
        waiting.append(Run(cause: .all(trigger)))
        return taken + waiting.count
    }

    /// Queues a run because there is room again for the items that a plugin left.
    mutating func add(capacityOf plugin: PluginID) { waiting.append(Run(cause: .capacity(plugin))) }

    /// Queues the runs that follow from a committed transaction. Each transaction that changed items gives a run of its
    /// own.
    mutating func add(_ changes: CommitChanges) {
        if changes.changesItems {
            var seen: Set<ItemRowID> = []
            let items = (changes.added + changes.updated + changes.removed).filter { seen.insert($0).inserted }
            waiting.append(Run(cause: .items(items, anchor: changes.anchor)))
        }
        if changes.triggersPolicies { waiting.append(Run(cause: .all(.policiesChanged))) }
        if !changes.collections.isEmpty { add(.recordsChanged) }
    }

    /// Marks the runs that follow from an added transaction as follow-ups, because a run made the transaction.
    mutating func follow(_ changes: CommitChanges, round: Int, asker: PluginID) {
        let isFollowUp = { (run: Run) in
            switch run.cause {
            case .items(_, let anchor): changes.changesItems && anchor == changes.anchor
            case .all(let trigger): changes.triggersPolicies && trigger == .policiesChanged && run.round == 0
            case .capacity: false
            }
        }
        for index in waiting.indices where isFollowUp(waiting[index]) {
            waiting[index].round = max(waiting[index].round, round + 1)
            waiting[index].askers.insert(asker)
        }
    }

    mutating func next() -> Run? {
        guard !waiting.isEmpty else { return nil }
        taken += 1
        return waiting.removeFirst()
    }
}

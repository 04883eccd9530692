import Database
import Model

/// The runs that wait for their turn. A run never begins inside another: what a run changes is looked at by one after it.
struct RunQueue {
    enum Cause: Hashable {
        /// One transaction's items: added, updated, removed, in this order and each once.
        case items([ItemRowID], anchor: Int64)
        /// A trigger after which all items are looked at.
        case all(Trigger)
        /// There is room again for what this plugin left.
        case capacity(PluginID)

        var trigger: Trigger {
            switch self {
            case .items: .itemsChanged
            case .all(let trigger): trigger
            case .capacity: .syncCapacity
            }
        }

        /// Whether a plugin's processor is called.
        func concerns(_ plugin: PluginID) -> Bool { if case .capacity(let one) = self { one == plugin } else { true } }
    }

    struct Run {
        var cause: Cause
        /// How many runs stand between this one and the change from outside that set it off.
        var round = 0
        /// Whose wishes set it off, if it is a follow-up.
        var askers: Set<PluginID> = []
    }

    /// Follow-ups that go on for longer do not come to rest by themselves.
    static let mostRounds = 20

    private(set) var waiting: [Run] = []

    /// A scan or the engine fired a trigger. One that waits already will see all that is there to see.
    mutating func add(_ trigger: Trigger) {
        guard trigger != .policiesChanged, waiting.contains(where: { $0.cause == .all(trigger) && $0.round == 0 })
        else {
            waiting.append(Run(cause: .all(trigger)))
            return
        }
    }

    /// There is room again for what a plugin left.
    mutating func add(capacityOf plugin: PluginID) { waiting.append(Run(cause: .capacity(plugin))) }

    /// A transaction was committed. Each one that changed items is a run of its own.
    mutating func add(_ changes: CommitChanges) {
        if changes.changesItems {
            var seen: Set<ItemRowID> = []
            let items = (changes.added + changes.updated + changes.removed).filter { seen.insert($0).inserted }
            waiting.append(Run(cause: .items(items, anchor: changes.anchor)))
        }
        if changes.triggersPolicies { waiting.append(Run(cause: .all(.policiesChanged))) }
    }

    /// A transaction that was added was a run's own: what it set off is a follow-up.
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

    mutating func next() -> Run? { waiting.isEmpty ? nil : waiting.removeFirst() }
}

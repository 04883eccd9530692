import Model

/// Counts what was done for an item because the item changed, so that processors that undo each other's work through the sync
/// engine, where no run follows directly from another, are found out.
struct AskCounter {
    /// What is asked for: that the item is here, or that it is not.
    enum Wish { case here, gone }

    enum Answer: Equatable {
        case allowed
        /// - Parameter isFirst: since the last change from outside.
        /// - Parameter former: who asked for the opposite before; nil: this is the same wish once more.
        case refused(isFirst: Bool, former: PluginID?)
    }

    private struct Count {
        var asks: UInt8 = 0
        /// How often a wish was the opposite of the one before.
        var turns: UInt8 = 0
        var wish: Wish
        /// The place of who had it among `askers`.
        var asker: UInt8
    }

    /// An item that was fetched after it was removed, without a change from outside, is not removed once more; one that was
    /// fetched and removed is fetched once more.
    private static func mostTurns(before wish: Wish) -> Int { wish == .gone ? 1 : 2 }

    /// By the item's hash: a table of all items' ids would be large.
    private var counts: [Int: Count] = [:]
    private var askers: [PluginID] = []
    private var isReported = false

    /// A change came from outside: what is asked for now is asked for anew.
    mutating func reset() {
        counts.removeAll(keepingCapacity: counts.count < 10_000)
        isReported = false
    }

    /// Whether the item may be asked for.
    mutating func mayAsk(_ item: LocalID, _ wish: Wish) -> Answer {
        guard let count = counts[item.hashValue] else { return .allowed }
        let isTurn = count.wish != wish
        guard Int(count.asks) >= RunQueue.mostRounds || isTurn && Int(count.turns) >= Self.mostTurns(before: wish)
        else {
            return .allowed
        }
        defer { isReported = true }
        return .refused(isFirst: !isReported, former: isTurn ? askers[Int(count.asker)] : nil)
    }

    /// Something was done for the item.
    mutating func note(_ item: LocalID, _ wish: Wish, by plugin: PluginID) {
        let asker = UInt8(clamping: askers.firstIndex(of: plugin) ?? askers.count)
        if Int(asker) == askers.count { askers.append(plugin) }
        var count = counts[item.hashValue] ?? Count(wish: wish, asker: asker)
        if count.wish != wish { count.turns += 1 }
        count.asks += 1
        (count.wish, count.asker) = (wish, asker)
        counts[item.hashValue] = count
    }
}

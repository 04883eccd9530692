import Model

/// A counter of the actions that were carried out for an item because the item changed. It detects processors that undo
/// each other's work through the sync engine, where no run follows directly from another.
struct AskCounter {
    /// A wish for an item: that its copy is here, that the copy is gone, or that the item is changed on the server.
    enum Wish { case here, gone, changed }

    /// The answer to a request for an item.
    enum Answer: Equatable {
        case allowed
        /// A refused request.
        /// - Parameters:
        ///   - isFirst: Whether this is the first refused request since the last change from outside.
        ///   - isTurn: Whether the request is for the opposite of the request before.
        ///   - former: The plugin that made the request before.
        case refused(isFirst: Bool, isTurn: Bool, former: PluginID)
    }

    private struct Count {
        var asks: UInt8 = 0
        /// The number of times that a wish was the opposite of the wish before.
        var turns: UInt8 = 0
        var wish: Wish
        /// The index in `askers` of the plugin that had the last wish.
        var asker: UInt8
    }

    /// Returns the number of turns at which a wish that is another turn is refused. Without a change from outside, an
    /// item that was removed and then fetched is not removed once more; an item that was fetched and then removed is
    /// fetched once more.
    private static func mostTurns(before wish: Wish) -> Int { wish == .gone ? 1 : 2 }

    /// The counts by the hash of the item's id; a table of all items' ids would be large.
    private var counts: [Int: Count] = [:]
    private var askers: [PluginID] = []
    private var isReported = false

    /// Forgets all counts after a change from outside, so that requests count anew.
    mutating func reset() {
        counts.removeAll(keepingCapacity: counts.count < 10_000)
        isReported = false
    }

    /// Tells whether a request for the item is allowed.
    mutating func mayAsk(_ item: LocalID, _ wish: Wish) -> Answer {
        guard let count = counts[item.hashValue] else { return .allowed }
        let isTurn = count.wish.isOpposite(to: wish)
        guard Int(count.asks) >= RunQueue.mostRounds || isTurn && Int(count.turns) >= Self.mostTurns(before: wish)
        else {
            return .allowed
        }
        defer { isReported = true }
        return .refused(isFirst: !isReported, isTurn: isTurn, former: askers[Int(count.asker)])
    }

    /// Notes that an action was carried out for the item.
    mutating func note(_ item: LocalID, _ wish: Wish, by plugin: PluginID) {
        let asker = UInt8(clamping: askers.firstIndex(of: plugin) ?? askers.count)
        if Int(asker) == askers.count { askers.append(plugin) }
        var count = counts[item.hashValue] ?? Count(wish: wish, asker: asker)
        if count.wish.isOpposite(to: wish) { count.turns += 1 }
        count.asks += 1
        if wish != .changed { (count.wish, count.asker) = (wish, asker) }
        counts[item.hashValue] = count
    }
}

extension AskCounter.Wish {
    fileprivate func isOpposite(to other: AskCounter.Wish) -> Bool {
        self != other && self != .changed && other != .changed
    }
}

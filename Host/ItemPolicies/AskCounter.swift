import Model

/// Counts how often something was done for an item because the item changed, so that processors that undo each other's work
/// through the sync engine, where no run follows directly from another, are found out.
struct AskCounter {
    /// By the item's hash: a table of all items' ids would be large.
    private var counts: [Int: UInt8] = [:]
    private var isReported = false

    /// A change came from outside: what is asked for now is asked for anew.
    mutating func reset() {
        counts.removeAll(keepingCapacity: counts.count < 10_000)
        isReported = false
    }

    /// Whether the item may be asked for, and whether this is the first refusal since the last change from outside.
    mutating func mayAsk(_ item: LocalID) -> (isAllowed: Bool, isFirst: Bool) {
        guard Int(counts[item.hashValue] ?? 0) >= RunQueue.mostRounds else { return (true, false) }
        defer { isReported = true }
        return (false, !isReported)
    }

    /// Something was done for the item.
    mutating func note(_ item: LocalID) { counts[item.hashValue, default: 0] += 1 }
}

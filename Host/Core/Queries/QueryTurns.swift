import Model

/// The next moments at which items meet a condition, or meet it no more, by time alone. Only the nearest ones are kept.
struct QueryTurns: Sendable {
    /// The number of moments beyond which the later half is dropped.
    static let most = 8_192

    private struct Turn: Sendable {
        var time: Timestamp
        var row: ItemRowID
    }

    /// In ascending order of time.
    private var turns: [Turn] = []
    /// The first moment at which a turn may be missing, since it was dropped; nil if none was.
    private(set) var horizon: Timestamp?

    /// The next moment at which something is to be done; nil if there is none.
    var next: Timestamp? { [turns.first?.time, horizon].compactMap(\.self).min() }

    /// Notes the next turn of a row.
    mutating func add(_ row: ItemRowID, at time: Timestamp) {
        if let horizon, time >= horizon { return }
        turns.insert(Turn(time: time, row: row), at: turns.partitioningIndex { $0.time > time })
        guard turns.count > Self.most else { return }
        let dropped = turns[Self.most / 2].time
        turns.removeLast(turns.count - turns.partitioningIndex { $0.time >= dropped })
        horizon = dropped
    }

    /// Takes out the rows whose turns have come.
    mutating func takeDue(at now: Timestamp) -> [ItemRowID] {
        let count = turns.partitioningIndex { $0.time > now }
        defer { turns.removeFirst(count) }
        return turns[..<count].map(\.row)
    }
}

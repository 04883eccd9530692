import CLarder
import Model

/// The room that a plugin's records take, as the changes of a turn leave it.
struct RecordRoom {
    /// The bytes that the records took before the turn.
    let before: Int64
    /// The bytes that the records take after the changes so far. The records that belong to a removed record are not
    /// counted out: another loop wrote them.
    private(set) var taken: Int64
    private let turn: any LoopTurn
    /// The sizes of changed records; 0 for those that are removed.
    private var sizes: [RecordCollection: [RecordKey: Int64]] = [:]

    init(_ turn: any LoopTurn) throws(ServiceError) {
        self.turn = turn
        before = try turn.recordSize(of: nil, in: nil)
        taken = before
    }

    mutating func take(_ change: RecordChange) throws(ServiceError) {
        let (key, collection, size) =
            switch change {
            case .put(let record, let collection): (record.key, collection, record.size)
            case .remove(let key, let collection): (key, collection, Int64(0))
            }
        let known =
            if let changed = sizes[collection]?[key] { changed } else {
                try turn.recordSize(of: key, in: collection)
            }
        taken += size - known
        sizes[collection, default: [:]][key] = size
    }
}

/// The check that a plugin's records stay within their quota.
extension InstanceContext {
    /// Checks that there is room for a change of a record, which the turn has not asked for yet.
    ///
    /// The room that is known to be taken is an upper bound: a record that takes the place of another one counts twice.
    /// Only when the bound leaves no room, the records are measured. Records that take more than the quota already, such
    /// as after the quota was lowered, may be replaced and removed.
    /// - Throws: `LARDER_LIMIT` if there is none; `LARDER_IO` if the stored records cannot be measured.
    func checkRecordQuota(_ change: RecordChange) throws(ServiceError) {
        if let recordShortage { throw recordShortage }
        let turn = try activeTurn()
        if recordRoom == nil {
            guard case .put(let record, _) = change else { return }
            let bound = if let recordBound { recordBound } else { try turn.recordSize(of: nil, in: nil) }
            guard bound + record.size > recordQuota else {
                recordBound = bound + record.size
                return
            }
            var room = try RecordRoom(turn)
            for case .record(let earlier) in turn.asked + loopAsked { try room.take(earlier) }
            recordRoom = room
        }
        guard var room = recordRoom else { return }
        try room.take(change)
        recordRoom = room
        // The turn may still fail, and then all stays as it was.
        recordBound = max(room.before, room.taken)
        guard room.taken > max(recordQuota, room.before) else { return }
        let shortage = ServiceError(
            LARDER_LIMIT,
            "the records of the plugin \(plugin) would take \(room.taken) bytes, but `record-quota` is \(recordQuota); "
                + "nothing of the turn is kept")
        recordShortage = shortage
        throw shortage
    }
}

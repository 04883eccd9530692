public import Model

extension Transaction {
    /// Commits a turn of an event loop: what it asked for, its plugin's values, its new event id and its state.
    ///
    /// All of it is one transaction, so that after a crash the stored event id and what is cached belong together, whichever of the
    /// two states the disk has (L13).
    /// - Returns: `.superseded`, with nothing written, if the turn began from what is no longer so.
    /// - Throws: `.badData` if the turn asks for more than ``RecordChange/largestTurn``, has an event id that is empty or longer than
    ///   ``EventID/longest``, or puts a value that is no JSON object.
    public func commit(_ turn: LoopTurnCommit) throws -> LoopTurnOutcome {
        let key = turn.state.key
        guard turn.state.eventID?.text.isEmpty != true else {
            throw Failure(
                .badData, "The loop \(key) came to an empty event id",
                hint: "Its plugin must name the place from which the next poll goes on")
        }
        let length = turn.state.eventID?.text.utf8.count ?? 0
        guard length <= EventID.longest else {
            throw Failure(
                .badData, "The loop \(key) came to an event id of \(length) bytes; \(EventID.longest) are possible",
                hint: "Its plugin must name the place from which the next poll goes on in fewer")
        }
        guard turn.size <= RecordChange.largestTurn else {
            throw Failure(
                .badData,
                "The loop \(key) asked for \(turn.size) bytes in one turn; \(RecordChange.largestTurn) are possible",
                hint: "Its plugin must do longer work in several pages, with `more`")
        }
        guard let stored = try loop(key), stored.isEnabled, stored.plugin == turn.state.plugin,
            stored.eventID == turn.from
        else { return .superseded }

        let changes = try apply(turn.changes, loopCollections: turn.loopCollections)
        for value in turn.values {
            if let bytes = value.value {
                try setPluginValue(of: turn.state.plugin, key: value.key, bytes)
            } else {
                try removePluginValue(of: turn.state.plugin, key: value.key)
            }
        }
        try updateLoop(
            key, "eventID = ?, lastPoll = ?, lastResult = ?, lastError = ?, nextPoll = ?, failures = ?",
            [turn.state.eventID.map { .text($0.text) } ?? .null] + turn.state.reportValues)
        return .committed(changes)
    }

    /// Changes records. The loops of records that go, go with them.
    /// - Parameter loopCollections: which kinds of loops are there for the records of which collection.
    public func apply(
        _ changes: [RecordChange], loopCollections: [LoopKind: RecordCollection]
    ) throws -> LoopTurnChanges {
        var done = LoopTurnChanges()
        for change in changes {
            switch change {
            case .put(let record, let collection):
                if let event = try put(record, in: collection) {
                    done.records.append(.init(event, record.key, in: collection))
                }
            case .remove(let record, let collection):
                guard try removeRecord(record, from: collection) else { continue }
                done.records.append(.init(.removed, record, in: collection))
                for kind in loopCollections.filter({ $0.value == collection }).keys.sorted() {
                    let loop = LoopKey(kind: kind, id: LoopID(record.text))
                    guard let state = try self.loop(loop) else { continue }
                    try removeLoop(loop)
                    try removeRecords(in: RecordCollection(state.plugin.text).of(record))
                    done.removedLoops.append(loop)
                }
            }
        }
        return done
    }
}

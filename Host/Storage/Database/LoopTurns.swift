import Model

extension Transaction {
    /// Commits a turn of an event loop: what it asked for, its plugin's values, its new event id and its state.
    ///
    /// All of it is one transaction, so that after a crash the stored event id and what is cached belong together, whichever of the
    /// two states the disk has (L13).
    /// - Returns: `.superseded`, with nothing written, if the turn began from what is no longer so.
    /// - Throws: `.badData` if the turn asks for more than ``RecordChange/largestTurn``, has an empty event id, or puts a value that
    ///   is no JSON object.
    public func commit(_ turn: LoopTurnCommit) throws -> LoopTurnOutcome {
        let key = turn.state.key
        guard turn.state.eventID?.text.isEmpty != true else {
            throw Failure(
                .badData, "The loop \(key) came to an empty event id",
                hint: "Its plugin must name the place from which the next poll goes on")
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

        var changes = LoopTurnChanges()
        for change in turn.changes {
            switch change {
            case .put(let record, let collection):
                if let event = try put(record, in: collection) {
                    changes.records.append(.init(event, record.key, in: collection))
                }
            case .remove(let record, let collection):
                guard try removeRecord(record, from: collection) else { continue }
                changes.records.append(.init(.removed, record, in: collection))
                for kind in turn.loopCollections.filter({ $0.value == collection }).keys.sorted() {
                    let loop = LoopKey(kind: kind, id: LoopID(record.text))
                    guard try self.loop(loop) != nil else { continue }
                    try removeLoop(loop)
                    changes.removedLoops.append(loop)
                }
            }
        }
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
}

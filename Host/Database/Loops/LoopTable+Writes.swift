public import Model

/// The writes that concern event loops.
extension LoopTable where Access == Transaction {
    /// Makes sure that a loop has a row.
    ///
    /// A new loop is enabled and begins without an event id. An existing row stays as it is, unless another plugin has
    /// taken over the loop. The event id is then cleared, since a plugin cannot go on from another plugin's event id.
    /// - Returns: Whether the loop is new.
    @discardableResult
    public func enrol(_ key: LoopKey, plugin: PluginID) throws -> Bool {
        if let known = try loop(key) {
            guard known.plugin != plugin else { return false }
            try update(key, "plugin = ?, eventID = NULL, failures = 0", [.text(plugin.text)])
            return false
        }
        let statement = try RawStatement(
            db,
            """
            INSERT INTO loops (position, kind, id, plugin)
            VALUES ((SELECT coalesce(max(position), 0) + 1 FROM loops), ?, ?, ?)
            """)
        statement.bind([.text(key.kind.text), .text(key.id.text), .text(plugin.text)])
        try statement.run()
        access.noteLoopsChanged()
        return true
    }

    /// Removes a loop's row with its event id. The loop's cached records stay. It is no error if there is no such row.
    public func remove(_ key: LoopKey) throws {
        let statement = try RawStatement(db, "DELETE FROM loops WHERE kind = ? AND id = ?")
        statement.bind([.text(key.kind.text), .text(key.id.text)])
        try statement.run()
        if changedRows > 0 { access.noteLoopsChanged() }
    }

    /// Enables or disables a loop for a person. A loop that is enabled becomes the last in the order.
    /// - Throws: `.notFound` if there is no such loop.
    public func setEnabled(_ key: LoopKey, _ isEnabled: Bool) throws {
        guard let known = try loop(key) else {
            throw Failure(.notFound, "there is no loop \(key.id)", hint: .listLoops)
        }
        guard known.isEnabled != isEnabled else { return }
        let position = isEnabled ? ", position = (SELECT max(position) + 1 FROM loops)" : ""
        try update(key, "isEnabled = ?, failures = 0, nextPoll = NULL\(position)", [.integer(isEnabled ? 1 : 0)])
    }

    /// Clears the event ids of all loops, so that each loop begins by fetching everything (L18, L34). The cached
    /// records stay.
    public func dropEventIDs() throws {
        let statement = try RawStatement(db, "UPDATE loops SET eventID = NULL, failures = 0, nextPoll = NULL")
        try statement.run()
        if changedRows > 0 { access.noteLoopsChanged() }
    }

    /// Records the results of polls that changed nothing else: last and next poll, result, error and failures. The
    /// event id, the plugin and whether the loop is enabled stay as they are. Loops that no longer exist are left out.
    public func note(_ reports: some Sequence<LoopState>) throws {
        let statement = try RawStatement(
            db,
            """
            UPDATE loops SET lastPoll = ?, lastResult = ?, lastError = ?, nextPoll = ?, failures = ?
            WHERE kind = ? AND id = ?
            """)
        for report in reports {
            statement.bind(report.reportValues + [.text(report.key.kind.text), .text(report.key.id.text)])
            try statement.run()
        }
        access.noteLogged()
    }

    func update(_ key: LoopKey, _ assignments: String, _ arguments: [SQLValue]) throws {
        let statement = try RawStatement(db, "UPDATE loops SET \(assignments) WHERE kind = ? AND id = ?")
        statement.bind(arguments + [.text(key.kind.text), .text(key.id.text)])
        try statement.run()
        access.noteLoopsChanged()
    }

    /// Commits a turn of an event loop: its record changes, its plugin's values, its new event id and its state.
    ///
    /// All of the turn is one transaction, so that the stored event id and the cached records belong together after a
    /// crash, in either of the two states (L13).
    /// - Returns: `.superseded`, with nothing written, if the loop has changed since the turn began.
    /// - Throws: `.badData` if the turn is larger than ``RecordChange/largestTurn``, has an event id that is empty or
    ///   longer than ``EventID/longest``, or stores a value that is no JSON object.
    public func commit(_ turn: LoopTurnCommit) throws -> LoopTurnOutcome {
        let key = turn.state.key
        guard turn.state.eventID?.text.isEmpty != true else {
            throw Failure(
                .badData, "The loop \(key) returned an empty event id",
                hint: "Its plugin must return an event id from which the next poll continues")
        }
        let length = turn.state.eventID?.text.utf8.count ?? 0
        guard length <= EventID.longest else {
            throw Failure(
                .badData,
                "The loop \(key) returned an event id of \(length) bytes; at most \(EventID.longest) are possible",
                hint: "Its plugin must return a shorter event id")
        }
        guard turn.size <= RecordChange.largestTurn else {
            throw Failure(
                .badData,
                "The loop \(key) tried to store \(turn.size) bytes in one turn; at most \(RecordChange.largestTurn) "
                    + "are possible",
                hint: "Its plugin must return more changes in several pages, with `more`")
        }
        guard let stored = try loop(key), stored.isEnabled, stored.plugin == turn.state.plugin,
            stored.eventID == turn.from
        else { return .superseded }

        let changes = try apply(turn.changes, loopCollections: turn.loopCollections)
        for value in turn.values {
            if let bytes = value.value {
                try access.plugins.setValue(of: turn.state.plugin, key: value.key, bytes)
            } else {
                try access.plugins.removeValue(of: turn.state.plugin, key: value.key)
            }
        }
        try update(
            key, "eventID = ?, lastPoll = ?, lastResult = ?, lastError = ?, nextPoll = ?, failures = ?",
            [turn.state.eventID.map { .text($0.text) } ?? .null] + turn.state.reportValues)
        return .committed(changes)
    }

    /// Changes records. The loop of a removed record is removed too, with the records that it cached.
    /// - Parameter loopCollections: The collection whose records have loops of their own, for each kind of such loops.
    /// - Throws: `.badData` if a value is no JSON object.
    public func apply(
        _ changes: [RecordChange], loopCollections: [LoopKind: RecordCollection]
    ) throws -> LoopTurnChanges {
        var done = LoopTurnChanges()
        for change in changes {
            switch change {
            case .put(let record, let collection):
                if let event = try access.records.put(record, in: collection) {
                    done.records.append(.init(event, record.key, in: collection))
                }
            case .remove(let record, let collection):
                guard try access.records.remove(record, from: collection) else { continue }
                done.records.append(.init(.removed, record, in: collection))
                for kind in loopCollections.filter({ $0.value == collection }).keys.sorted() {
                    let loop = LoopKey(kind: kind, id: LoopID(record.text))
                    guard let state = try self.loop(loop) else { continue }
                    try remove(loop)
                    try access.records.removeAll(in: RecordCollection(state.plugin.text).of(record))
                    done.removedLoops.append(loop)
                }
            }
        }
        return done
    }
}

extension LoopState {
    /// The values that ``LoopTable/note(_:)`` writes, in its order.
    var reportValues: [SQLValue] {
        [
            lastPoll.map { .integer($0.nanoseconds) } ?? .null, lastResult.map { .text($0.rawValue) } ?? .null,
            lastError.map(SQLValue.text) ?? .null, nextPoll.map { .integer($0.nanoseconds) } ?? .null,
            .integer(Int64(failures)),
        ]
    }
}

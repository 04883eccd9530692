public import Model

/// The event loops and their event ids.
public struct LoopTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns all event loops: the core loop first, then the others in the order in which they were last enabled.
    public func all() throws -> [LoopState] {
        try all("1 ORDER BY kind <> 'core', position", [])
    }

    /// Returns a loop; nil if there is none with this key.
    public func loop(_ key: LoopKey) throws -> LoopState? {
        try all("kind = ? AND id = ?", [.text(key.kind.text), .text(key.id.text)]).first
    }

    /// Returns a loop's event id; nil if the loop has not run yet, its event id was cleared, or there is no such loop.
    public func eventID(of key: LoopKey) throws -> EventID? { try loop(key)?.eventID }

    private func all(_ sql: String, _ arguments: [SQLValue]) throws -> [LoopState] {
        let statement = try RawStatement(
            db,
            """
            SELECT kind, id, plugin, isEnabled, eventID, lastPoll, lastResult, lastError, nextPoll, failures
            FROM loops WHERE \(sql)
            """)
        defer { statement.reset() }
        statement.bind(arguments)
        var loops: [LoopState] = []
        while try statement.step() {
            loops.append(
                LoopState(
                    key: LoopKey(kind: LoopKind(statement.text(0) ?? ""), id: LoopID(statement.text(1) ?? "")),
                    plugin: PluginID(statement.text(2) ?? ""), isEnabled: statement.integer(3) == 1,
                    eventID: statement.text(4).map(EventID.init),
                    lastPoll: statement.integer(5).map(Timestamp.init(nanoseconds:)),
                    lastResult: statement.text(6).flatMap(LoopResult.init), lastError: statement.text(7),
                    nextPoll: statement.integer(8).map(Timestamp.init(nanoseconds:)),
                    failures: statement.count(9)))
        }
        return loops
    }
}

extension DatabaseReads {
    /// The event loops and their event ids.
    public var loops: LoopTable<Self> { LoopTable(access: self) }
}

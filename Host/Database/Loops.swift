import GRDB
public import Model

extension DatabaseReads {
    /// The event loops that there are: core first, then in the order in which they were enabled last.
    public func loops() throws -> [LoopState] {
        try loops("1 ORDER BY kind <> 'core', position", [])
    }

    /// Nil: there is none with this key.
    public func loop(_ key: LoopKey) throws -> LoopState? {
        try loops("kind = ? AND id = ?", [.text(key.kind.text), .text(key.id.text)]).first
    }

    /// How far a loop has come; nil if it has not run yet, its cache was dropped, or there is no such loop.
    public func eventID(of key: LoopKey) throws -> EventID? { try loop(key)?.eventID }

    private func loops(_ sql: String, _ arguments: [SQLValue]) throws -> [LoopState] {
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

extension Transaction {
    /// Sees to it that a loop has a row. A new one is enabled and begins without an event id; one that is there stays as it is, unless
    /// another plugin has taken it over, which cannot go on from an event id that is not its own.
    /// - Returns: whether it is new.
    @discardableResult
    public func enrolLoop(_ key: LoopKey, plugin: PluginID) throws -> Bool {
        if let known = try loop(key) {
            guard known.plugin != plugin else { return false }
            try updateLoop(key, "plugin = ?, eventID = NULL, failures = 0", [.text(plugin.text)])
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
        noteLoopsChanged()
        return true
    }

    /// Takes a loop's row away with its event id. What the loop cached stays. One that is not there is fine.
    public func removeLoop(_ key: LoopKey) throws {
        let statement = try RawStatement(db, "DELETE FROM loops WHERE kind = ? AND id = ?")
        statement.bind([.text(key.kind.text), .text(key.id.text)])
        try statement.run()
        if db.changesCount > 0 { noteLoopsChanged() }
    }

    /// Switches a loop on or off, for a person. One that is switched on comes last in the order.
    /// - Throws: `.notFound` if there is no such loop.
    public func setLoopEnabled(_ key: LoopKey, _ isEnabled: Bool) throws {
        guard let known = try loop(key) else {
            throw Failure(.notFound, "there is no loop \(key.id)", hint: "`larder loop list` shows all")
        }
        guard known.isEnabled != isEnabled else { return }
        let position = isEnabled ? ", position = (SELECT max(position) + 1 FROM loops)" : ""
        try updateLoop(key, "isEnabled = ?, failures = 0, nextPoll = NULL\(position)", [.integer(isEnabled ? 1 : 0)])
    }

    /// Forgets how far all loops have come: each begins with fetching everything (L18, L34). What they cached stays.
    public func dropAnchors() throws {
        let statement = try RawStatement(db, "UPDATE loops SET eventID = NULL, failures = 0, nextPoll = NULL")
        try statement.run()
        if db.changesCount > 0 { noteLoopsChanged() }
    }

    /// Writes down what polls came to that changed nothing else: last and next poll, result, error and failures. The event id, the
    /// plugin and whether the loop is enabled stay as they are; loops that are gone are left out.
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
    }

    func updateLoop(_ key: LoopKey, _ assignments: String, _ arguments: [SQLValue]) throws {
        let statement = try RawStatement(db, "UPDATE loops SET \(assignments) WHERE kind = ? AND id = ?")
        statement.bind(arguments + [.text(key.kind.text), .text(key.id.text)])
        try statement.run()
        noteLoopsChanged()
    }
}

extension LoopState {
    /// What of it ``Transaction/note(_:)`` writes, in its order.
    var reportValues: [SQLValue] {
        [
            lastPoll.map { .integer($0.nanoseconds) } ?? .null, lastResult.map { .text($0.rawValue) } ?? .null,
            lastError.map(SQLValue.text) ?? .null, nextPoll.map { .integer($0.nanoseconds) } ?? .null,
            .integer(Int64(failures)),
        ]
    }
}

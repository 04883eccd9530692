public import Model

extension DatabaseReads {
    /// How many items meet a policy's condition, and what their files hold by the server's word. Removed items and the root
    /// are not counted.
    /// - Parameter now: the moment that `now` in the condition stands for.
    /// - Throws: `.badData` if the condition does not parse.
    public func coverage(of policy: ItemPolicy, now: Timestamp) throws -> (items: Int64, bytes: Int64) {
        let condition = ConditionSQL.compile(try policy.parsedCondition(), now: now)
        let statement = try RawStatement(
            db,
            """
            SELECT count(*), total(size) FILTER (WHERE type = 0) FROM items
            WHERE removedAt IS NULL AND path <> '/' AND (\(condition.sql))
            """)
        defer { statement.reset() }
        statement.bind(condition.arguments.map { .text($0) })
        guard try statement.step() else { return (0, 0) }
        return (statement.integer(0) ?? 0, statement.integer(1) ?? 0)
    }
}

extension DatabaseReads {
    /// Whether an item that is not removed meets a condition.
    /// - Parameter now: the moment that `now` in the condition stands for.
    public func hasItem(meeting condition: Condition, now: Timestamp) throws -> Bool {
        let (sql, arguments) = ConditionSQL.compile(condition, now: now)
        let statement = try RawStatement(db, "SELECT 1 FROM items WHERE removedAt IS NULL AND (\(sql)) LIMIT 1")
        defer { statement.reset() }
        statement.bind(arguments.map { .text($0) })
        return try statement.step()
    }
}

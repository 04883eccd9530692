public import Model

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

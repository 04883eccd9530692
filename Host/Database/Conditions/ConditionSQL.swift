public import Model

/// The translation of conditions into SQL.
public enum ConditionSQL {
    /// Returns the SQL expression that selects the rows of `items` that meet a condition.
    ///
    /// The expression is a term for `WHERE`: true where the condition holds, and false or null elsewhere. The table
    /// must be in scope as `items`. Columns are qualified with the table's name, so that other tables may be joined.
    /// - Parameter now: The time that `now` in the condition stands for.
    /// - Returns: The expression in parentheses, and the texts for its `?` parameters in order. There are never more
    ///   texts than SQLite's default limit allows (32,766).
    public static func compile(_ condition: Condition, now: Timestamp) -> (sql: String, arguments: [String]) {
        var compiler = ConditionCompiler(now: now)
        return compiler.whole(condition)
    }
}

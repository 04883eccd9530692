public import Model

/// Conditions as SQL.
public enum ConditionSQL {
    /// The SQL expression that picks the rows of `items` that meet a condition.
    ///
    /// It is a term for `WHERE`: true where the condition holds, false or null elsewhere. The table must be in scope as
    /// `items`; columns are written with its name, so that others may be joined.
    /// - Parameter now: the moment that `now` stands for.
    /// - Returns: the expression in parentheses, and the texts for its `?` parameters in order, never more than SQLite's
    ///   own default limit allows (32,766).
    public static func compile(_ condition: Condition, now: Timestamp) -> (sql: String, arguments: [String]) {
        var compiler = ConditionCompiler(now: now)
        return compiler.whole(condition)
    }
}

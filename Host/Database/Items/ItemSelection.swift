public import Model

/// A selection of the items that a cursor reads, and their order.
public struct ItemSelection: Sendable {
    /// The order of the items.
    public enum Order: Sendable {
        /// No particular order.
        case any
        /// By path, byte by byte. The selection must have no limit then.
        case path
        /// By a column, and by path among items with equal values.
        case column(ItemColumn, isDescending: Bool)
    }

    /// The `databaseID`s of the rows to select from; nil to select from all rows. Without another order, the items come
    /// in the order of this list.
    public var rows: [ItemRowID]?
    /// The condition that the items meet; nil for no condition.
    public var condition: Condition?
    /// The time that `now` in the condition stands for.
    public var now: Timestamp
    /// A reason and actions. Items are left out that have a sync record with this reason and one of these actions.
    public var askedBy: (reason: DownloadTrigger, actions: [SyncRecord.Action.Kind])?
    /// The order of the items.
    public var order = Order.any
    /// The largest number of items; nil for no limit.
    public var limit: Int64?

    /// Creates a selection of all items.
    public init(now: Timestamp) { self.now = now }

    /// The text that follows FROM, with `?` for the arguments, and without the order by path.
    var query: (sql: String, arguments: [SQLValue]) {
        var (sql, arguments): (String, [SQLValue]) = ("items", [])
        if let rows {
            sql = "json_each(?) AS changed CROSS JOIN items ON items.databaseID = changed.value"
            arguments.append(.text("[" + rows.map(String.init).joined(separator: ",") + "]"))
        }
        var terms: [String] = []
        if let condition {
            let (term, texts) = ConditionSQL.compile(condition, now: now)
            terms.append(term)
            arguments += texts.map(SQLValue.text)
        }
        if let (reason, actions) = askedBy {
            terms.append(
                """
                NOT EXISTS (SELECT 1 FROM syncRecords WHERE syncRecords.localID = items.localID AND reason = ?
                  AND action IN (\(actions.map { "'\($0.rawValue)'" }.joined(separator: ", "))))
                """)
            arguments.append(.text(reason.text))
        }
        if !terms.isEmpty { sql += " WHERE " + terms.joined(separator: " AND ") }
        if case .column(let column, let isDescending) = order {
            // With an index on the column, SQLite only sorts items that are equal in it. They are sorted by path, so
            // that every run has the same order.
            sql += " ORDER BY items.\(column.sql)\(isDescending ? " DESC" : "")"
            if column != .path { sql += ", items.path" }
        }
        if let limit { sql += " LIMIT \(limit)" }
        return (sql, arguments)
    }
}

extension ReadSession {
    /// Returns a cursor over the items of a selection.
    /// - Parameter columns: The columns that are read; the others are null.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public func items(_ columns: ItemColumns, _ selection: ItemSelection) throws(Failure) -> ItemCursor {
        let (sql, arguments) = selection.query
        let isInPathOrder = if case .path = selection.order { true } else { false }
        return try items(columns, from: sql, arguments, isInPathOrder: isInPathOrder)
    }

    /// Returns a cursor over the item with an id, if there is one.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public func items(_ columns: ItemColumns, localID: LocalID) throws(Failure) -> ItemCursor {
        try items(columns, from: "items WHERE items.localID = ?", [.text(localID.text)])
    }
}

public import Model

/// Which items a cursor reads, and in which order.
public struct ItemSelection: Sendable {
    /// In which order items come.
    public enum Order: Sendable {
        case any
        /// By path, byte by byte. There is no limit then.
        case path
        /// By a column, and where that is equal by path.
        case column(ItemColumn, isDescending: Bool)
    }

    /// The `databaseID`s of those among which the items are; nil: all. They come in this order unless another one is asked for.
    public var rows: [ItemRowID]?
    public var condition: Condition?
    /// The moment that `now` in the condition stands for.
    public var now: Timestamp
    /// Items are left out for which somebody asked for one of these actions already.
    public var askedBy: (reason: DownloadTrigger, actions: [SyncRecord.Action.Kind])?
    public var order = Order.any
    public var limit: Int64?

    public init(now: Timestamp) { self.now = now }

    /// What follows FROM, with `?` for the arguments; without the order by path.
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
            // An index that has the column at its place leaves to sort only the items that are equal in it, which come in the order of
            // their paths, so that each run has the same.
            sql += " ORDER BY items.\(column.sql)\(isDescending ? " DESC" : "")"
            if column != .path { sql += ", items.path" }
        }
        if let limit { sql += " LIMIT \(limit)" }
        return (sql, arguments)
    }
}

extension ReadSession {
    /// A cursor over items.
    /// - Parameter columns: Those that are read; the others are null.
    /// - Throws: `.internal` after the session's end, and as ``ReadSession/init(_:)``.
    public func items(_ columns: ItemColumns, _ selection: ItemSelection) throws(Failure) -> ItemCursor {
        let (sql, arguments) = selection.query
        let isInPathOrder = if case .path = selection.order { true } else { false }
        return try items(columns, from: sql, arguments, isInPathOrder: isInPathOrder)
    }

    /// A cursor over the item with an id, if there is one.
    /// - Throws: `.internal` after the session's end, and as ``ReadSession/init(_:)``.
    public func items(_ columns: ItemColumns, localID: LocalID) throws(Failure) -> ItemCursor {
        try items(columns, from: "items WHERE items.localID = ?", [.text(localID.text)])
    }
}

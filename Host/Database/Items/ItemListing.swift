public import Model

/// Which items `ls` shows, and in which order.
public struct ItemListing: Sendable {
    /// The folder whose contents are listed.
    public var folder: ItemPath
    /// Everything below, not only what is directly in the folder.
    public var isRecursive = false
    /// Items that are gone from the server but still known are listed too.
    public var includesRemoved = false
    /// Items with this status are not listed; nil: all are.
    public var leavesOut: CloudStatus?
    /// With the moment that `now` in it stands for.
    public var condition: (Condition, now: Timestamp)?
    /// Nil: by path, byte by byte.
    public var sort: ItemColumn?
    public var isDescending = false
    public var limit: Int?

    public init(folder: ItemPath, isRecursive: Bool = false, includesRemoved: Bool = false) {
        (self.folder, self.isRecursive, self.includesRemoved) = (folder, isRecursive, includesRemoved)
    }

    var query: (sql: String, arguments: [SQLValue]) {
        var terms: [String] = ["items.path <> '/'"]
        var arguments: [SQLValue] = []
        let range = ItemSQL.range(below: folder)
        switch (isRecursive, includesRemoved) {
        case (false, _):
            terms.append("items.parentPath = ?")
            arguments.append(.text(folder.text))
        case (true, false):
            terms.append("items.path >= ? AND items.path < ?")
            arguments += range
        case (true, true):
            terms.append("(items.parentPath = ? OR (items.parentPath >= ? AND items.parentPath < ?))")
            arguments += [.path(folder)] + range
        }
        if !includesRemoved { terms.append("items.removedAt IS NULL") }
        // A number in the text, since an index may be of the rows with this term.
        if let leavesOut { terms.append("items.cloudStatus <> \(leavesOut.rawValue)") }
        if let (condition, now) = condition {
            let (sql, texts) = ConditionSQL.compile(condition, now: now)
            terms.append("(\(sql))")
            arguments += texts.map(SQLValue.text)
        }
        let direction = isDescending ? " DESC" : ""
        var order = sort.map { "items.\($0.sql)\(direction), " } ?? ""
        order += "items.path" + (sort == nil ? direction : "")
        var sql = terms.joined(separator: " AND ") + " ORDER BY \(order), items.databaseID"
        if let limit { sql += " LIMIT \(limit)" }
        return (sql, arguments)
    }
}

/// How much is known and how much is here.
public struct ItemCounts: Hashable, Sendable {
    /// Files and folders that are not removed, without the root.
    public var items: Int64 = 0
    public var here = LocalUsage()

    public init() {}
}

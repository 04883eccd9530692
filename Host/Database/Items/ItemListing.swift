public import Model

/// A selection of the items that `ls` shows, and their order.
public struct ItemListing: Sendable {
    /// The folder whose items are listed.
    public var folder: ItemPath
    /// Whether everything below the folder is listed, not only the folder's own entries.
    public var isRecursive = false
    /// Whether items are included that the server no longer has and the database still knows.
    public var includesRemoved = false
    /// The status of items that are left out; nil to list items of every status.
    public var leavesOut: CloudStatus?
    /// The condition that the items meet, with the time that `now` in the condition stands for.
    public var condition: (Condition, now: Timestamp)?
    /// The column to sort by; nil to sort by path, byte by byte.
    public var sort: ItemColumn?
    /// Whether the order is descending.
    public var isDescending = false
    /// The largest number of items; nil for no limit.
    public var limit: Int?

    /// Creates a listing of a folder without a condition or limit.
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
        // The number is part of the text, since an index may be limited to the rows with this term.
        if let leavesOut { terms.append("items.cloudStatus <> \(leavesOut.rawValue)") }
        if let (condition, now) = condition {
            let (sql, texts) = ConditionSQL.compile(condition, now: now)
            terms.append("(\(sql))")
            arguments += texts.map(SQLValue.text)
        }
        let direction = isDescending ? " DESC" : ""
        var order = sort.map { "items.\($0.sql)\(direction), " } ?? ""
        order += "items.path" + (sort == nil ? direction : "")
        var sql = terms.joined(separator: " AND ") + " ORDER BY \(order), items.localID"
        if let limit { sql += " LIMIT \(limit)" }
        return (sql, arguments)
    }
}

/// The numbers of known items and of items that are here.
public struct ItemCounts: Hashable, Sendable {
    /// The number of files and folders that are not removed, without the root.
    public var items: Int64 = 0
    /// The local part of the account.
    public var here = LocalUsage()

    /// Creates counts of zero.
    public init() {}
}

import GRDBSQLite
public import Model

/// What an item is sorted by in a listing: the value of a column, and what sorts items that are equal in it.
public struct ItemSortKey: Sendable {
    /// A value as SQLite compares it: null before numbers, and numbers before texts, which are compared byte by byte.
    public enum Value: Sendable {
        case null
        case number(Int64)
        case text(String)
    }

    /// The value of the column; null without one.
    public var value: Value
    /// The item's path.
    public var path: ItemPath
    /// The item's id.
    public var localID: LocalID

    /// Creates a key.
    public init(value: Value = .null, path: ItemPath, localID: LocalID) {
        (self.value, self.path, self.localID) = (value, path, localID)
    }
}

/// The reads of the order of items, without the items.
extension ItemTable {
    /// Returns what a row is sorted by; nil if there is no such row.
    /// - Parameter column: The column that is sorted by; nil to sort by path alone.
    public func sortKey(of row: ItemRowID, by column: ItemColumn?) throws -> ItemSortKey? {
        let value = column.map { "items.\($0.sql)" } ?? "NULL"
        return try self.row("SELECT path, localID, \(value) FROM items WHERE databaseID = ?", [.id(row)]) { row in
            ItemSortKey(
                value: row.sortValue(2), path: ItemPath(unchecked: row.text(0) ?? ""),
                localID: LocalID(row.text(1) ?? ""))
        }
    }

    /// Reads the rows of a listing in its order.
    /// - Parameter body: A function that receives each row's number and anchor.
    public func eachRow(_ listing: ItemListing, _ body: (ItemRowID, _ anchor: Int64) -> Void) throws {
        let (sql, arguments) = listing.query
        let statement = try RawStatement(db, "SELECT databaseID, anchor FROM items WHERE \(sql)", isCached: false)
        defer { statement.reset() }
        statement.bind(arguments)
        while try statement.step() { body(statement.id(0), statement.integer(1) ?? 0) }
    }
}

extension RawStatement {
    fileprivate func sortValue(_ column: Int32) -> ItemSortKey.Value {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .number(integer(column) ?? 0)
        default: .text(text(column) ?? "")
        }
    }
}

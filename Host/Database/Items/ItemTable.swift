public import Model

/// The account's items: a row for each file and folder that the server has, or that is only here.
///
/// Each group of writes owns certain columns: those of the server's listings, those of the local copy, and those of its
/// use.
public struct ItemTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the item at a path that is not removed.
    public func item(at path: ItemPath) throws -> Item? { try row(ItemQuery.atPath, [.path(path)], Item.init) }

    /// Returns the item at a path, or else the item that was removed from there last.
    public func lastItem(at path: ItemPath) throws -> Item? { try row(ItemQuery.lastAtPath, [.path(path)], Item.init) }

    /// Returns the item with an id, removed or not; nil if there is none.
    public func item(localID: LocalID) throws -> Item? {
        try row(ItemQuery.withLocalID, [.text(localID.text)], Item.init)
    }

    /// Returns the item of a row, removed or not; nil if there is no such row.
    public func item(databaseID: ItemRowID) throws -> Item? {
        try row(ItemQuery.withDatabaseID, [.id(databaseID)], Item.init)
    }

    /// Returns a folder's own entries that are not removed, by name.
    public func children(of folder: ItemPath) throws -> [Item] {
        try rows(ItemQuery.inFolder, [.path(folder)], Item.init)
    }

    /// Reads the items of a listing one after the other.
    /// - Parameter body: A function that receives each item and returns false to end early.
    /// - Throws: What `body` throws.
    public func each(_ listing: ItemListing, _ body: (Item) throws -> Bool) throws {
        let query = listing.query
        try each(where: query.sql, query.arguments, body)
    }

    /// Reads items one after the other.
    /// - Parameters:
    ///   - sql: The text after WHERE, with `?` for the arguments. The table is `items`.
    ///   - body: A function that receives each item and returns false to end early.
    func each(where sql: String, _ arguments: [SQLValue] = [], _ body: (Item) throws -> Bool) throws {
        let statement = try RawStatement(db, ItemQuery.select("WHERE \(sql)"), isCached: false)
        defer { statement.reset() }
        statement.bind(arguments)
        while try statement.step() {
            guard try body(Item(statement)) else { return }
        }
    }

    /// Tells whether an item that is not removed meets a condition.
    /// - Parameter now: The time that `now` in the condition stands for.
    public func contains(_ condition: Condition, now: Timestamp) throws -> Bool {
        let (sql, arguments) = ConditionSQL.compile(condition, now: now)
        return try exists(
            "SELECT 1 FROM items WHERE removedAt IS NULL AND (\(sql))", arguments.map(SQLValue.text))
    }

    /// Counts the known items and the items that are here. The cost grows with the number of those that are here.
    public func counts() throws -> ItemCounts {
        var counts = ItemCounts()
        counts.items = try knownRows()
        counts.here = try row(LocalUsage.sql, [], LocalUsage.init) ?? LocalUsage()
        return counts
    }

    /// Returns the number of rows that are not removed, without the root's. SQLite counts the entries of an index for it,
    /// and reads no row: for a million items, `status` takes 0.12 s less.
    func knownRows() throws -> Int64 {
        let all = try integer("SELECT count(*) FROM items") ?? 0
        let root = try exists("SELECT 1 FROM items WHERE path = '/' AND removedAt IS NULL")
        return all - (try count("removedAt IS NOT NULL", by: "items_removed")) - (root ? 1 : 0)
    }

    /// Returns the number of rows that meet a condition, and of which an index has few.
    func count(_ condition: String, by index: String) throws -> Int64 {
        try integer("SELECT count(*) FROM items INDEXED BY \(index) WHERE \(condition)") ?? 0
    }

    /// Returns the highest number that an item's row has, or had.
    func highestRow() throws -> Int64 {
        max(try integer("SELECT max(databaseID) FROM items") ?? 0, try access.meta.integer(.lastItemRow) ?? 0)
    }

    /// Returns the files whose local content differs from the server's, as far as is known.
    package func changedFiles() throws -> [Item] {
        try rows(ItemQuery.changedFiles, [], Item.init)
    }

    /// Returns the time at which a copy's mark was last recorded; nil if there are no copies.
    package func newestMarkTime() throws -> Timestamp? {
        try integer("SELECT max(copyRecorded) FROM items").map(Timestamp.init(nanoseconds:))
    }
}

/// The queries' texts, built once, since each item's read uses them as keys of the statement cache.
enum ItemQuery {
    static let atPath = select("WHERE path = ? AND removedAt IS NULL")
    static let lastAtPath = select("WHERE path = ? ORDER BY removedAt IS NOT NULL, removedAt DESC")
    static let withLocalID = select("WHERE localID = ?")
    static let withDatabaseID = select("WHERE databaseID = ?")
    static let removedCopyAtPath = select(
        "WHERE path = ? AND removedAt IS NOT NULL AND deletedBy IS NULL AND \(ItemSQL.isCopy)")
    static let foldersMetElsewhere = select(
        """
        INDEXED BY items_removed
        WHERE removedAt IS NOT NULL AND deletedBy IS NULL AND \(ItemSQL.isFolder) AND \(ItemSQL.isCopy)
          AND NOT \(ItemSQL.isMissing) AND EXISTS (
            SELECT 1 FROM items AS met WHERE met.fileID = items.fileID AND met.removedAt IS NULL
              AND met.\(ItemSQL.isFolder) AND met.path <> items.path)
        ORDER BY path DESC
        """)
    static let inFolder = select("WHERE parentPath = ? AND removedAt IS NULL AND path <> '/' ORDER BY name")
    static let changedFiles = select("WHERE \(ItemSQL.isModified) AND \(ItemSQL.isFile) AND removedAt IS NULL")

    static func select(_ rest: String) -> String { "SELECT \(ItemColumns.wholeItem) FROM items \(rest)" }
}

extension DatabaseReads {
    /// The account's items.
    public var items: ItemTable<Self> { ItemTable(access: self) }
}

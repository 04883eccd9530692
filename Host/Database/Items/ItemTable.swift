import GRDB
public import Model

extension DatabaseReads {
    /// The item at a path; removed ones have none.
    public func item(at path: ItemPath) throws -> Item? {
        try firstItem(ItemQuery.atPath, [.text(path.text)])
    }

    /// The item at a path; without one the item that was removed from there last.
    public func lastItem(at path: ItemPath) throws -> Item? {
        try firstItem(ItemQuery.lastAtPath, [.text(path.text)])
    }

    public func item(localID: LocalID) throws -> Item? {
        try firstItem(ItemQuery.withLocalID, [.text(localID.text)])
    }

    public func item(databaseID: Int64) throws -> Item? {
        try firstItem(ItemQuery.withDatabaseID, [.integer(databaseID)])
    }

    /// The item with the server's id, one that is not removed first.
    public func item(fileID: FileID) throws -> Item? {
        try firstItem(ItemQuery.withFileID, [.text(fileID.text)])
    }

    /// What is directly in a folder and not removed, by name.
    public func children(of folder: ItemPath) throws -> [Item] {
        var items: [Item] = []
        try eachItem(RawStatement(db, ItemQuery.inFolder), [.text(folder.text)]) { item in
            items.append(item)
            return true
        }
        return items
    }

    /// Reads items one after the other.
    /// - Parameters:
    ///   - sql: What stands after WHERE, with `?` for the arguments; the table is `items`.
    ///   - body: Returns false to end early.
    public func eachItem(
        where sql: String, _ arguments: [SQLValue] = [], _ body: (Item) throws -> Bool
    ) throws {
        try eachItem(RawStatement(db, ItemQuery.select("WHERE \(sql)"), isCached: false), arguments, body)
    }

    private func eachItem(
        _ statement: RawStatement, _ arguments: [SQLValue], _ body: (Item) throws -> Bool
    ) throws {
        defer { statement.reset() }
        statement.bind(arguments)
        while try statement.step() {
            guard try body(Item(statement)) else { return }
        }
    }

    /// The files whose content is another here than the server's, as far as is known.
    package func changedFiles() throws -> [Item] {
        var items: [Item] = []
        try eachItem(
            where: "cloudStatus = ? AND type = 0 AND removedAt IS NULL",
            [.integer(Int64(CloudStatus.locallyModified.rawValue))]
        ) { item in
            items.append(item)
            return true
        }
        return items
    }

    /// When a copy's looks were recorded last; nil: there are no copies.
    package func lastRecordedLooks() throws -> Timestamp? {
        let statement = try RawStatement(db, "SELECT max(copyRecorded) FROM items")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0).map(Timestamp.init(nanoseconds:)) : nil
    }

    private func firstItem(_ sql: String, _ arguments: [SQLValue]) throws -> Item? {
        var found: Item?
        try eachItem(RawStatement(db, sql), arguments) { item in
            found = item
            return false
        }
        return found
    }
}

/// Made once: they are looked up by their text, for each item.
private enum ItemQuery {
    static let atPath = select("WHERE path = ? AND removedAt IS NULL")
    static let lastAtPath = select("WHERE path = ? ORDER BY removedAt IS NOT NULL, removedAt DESC")
    static let withLocalID = select("WHERE localID = ?")
    static let withDatabaseID = select("WHERE databaseID = ?")
    static let withFileID = select("WHERE fileID = ? ORDER BY removedAt IS NOT NULL LIMIT 1")
    static let inFolder = select("WHERE parentPath = ? AND removedAt IS NULL AND path <> '/' ORDER BY name")

    static func select(_ rest: String) -> String { "SELECT \(ItemColumns.wholeItem) FROM items \(rest)" }
}

extension Transaction {
    private static let insertion: String = {
        let columns = (Item.identityColumns + Item.localColumns).map(\.sql)
        let places = columns.map { _ in "?" }
        return "INSERT INTO items (\(columns.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))"
    }()

    private static let replacement = replacement(of: Item.identityColumns + Item.localColumns)
    private static let localReplacement = replacement(of: Item.localColumns)

    private static func replacement(of columns: [ItemColumn]) -> String {
        "UPDATE items SET \(columns.map { "\($0.sql) = ?" }.joined(separator: ", ")) WHERE databaseID = ?"
    }

    /// Writes a new item's row and notes that it was added.
    /// - Returns: the item with its `databaseID` and anchor.
    @discardableResult
    public func insert(_ item: Item) throws -> Item {
        let statement = try RawStatement(db, Self.insertion)
        let anchor = try anchor
        item.bindIdentity(to: statement)
        item.bindLocal(to: statement, after: Item.identityColumns.count, anchor: anchor)
        try statement.run()
        var stored = item
        stored.databaseID = db.lastInsertedRowID
        stored.anchor = anchor
        noteAdded(stored.databaseID)
        return stored
    }

    /// Writes all of an item's row and notes that it was updated. `item.databaseID` says which row.
    /// - Returns: the item with its new anchor.
    @discardableResult
    public func update(_ item: Item) throws -> Item {
        let statement = try RawStatement(db, Self.replacement)
        item.bindIdentity(to: statement)
        return try update(item, by: statement, after: Item.identityColumns.count)
    }

    /// Writes what is here of an item: `cloudStatus`, copy, triggers, last use and activity; and notes that it was updated. What else
    /// the value holds is not written, so that the indexes of names and ids are not touched.
    /// - Returns: the item with its new anchor.
    @discardableResult
    public func updateLocal(_ item: Item) throws -> Item {
        try update(item, by: RawStatement(db, Self.localReplacement), after: 0)
    }

    private func update(_ item: Item, by statement: RawStatement, after count: Int) throws -> Item {
        let anchor = try anchor
        item.bindLocal(to: statement, after: count, anchor: anchor)
        statement.bind(Int32(count + Item.localColumns.count + 1), item.databaseID)
        try statement.run()
        guard db.changesCount == 1 else {
            throw Failure(.internal, "The item \(item.path) has no row (\(item.databaseID))")
        }
        var stored = item
        stored.anchor = anchor
        noteUpdated(stored.databaseID)
        return stored
    }

    /// Takes an item's row away and notes that it was removed.
    public func deleteItem(databaseID: Int64) throws {
        let statement = try RawStatement(db, "DELETE FROM items WHERE databaseID = ?")
        statement.bind(1, databaseID)
        try statement.run()
        noteRemoved(databaseID)
    }

    /// A file was known again by its bytes. A mark is nothing that anybody but the tree sees: no observer hears of it.
    public func renewMark(_ mark: FileMark, databaseID: Int64) throws {
        let statement = try RawStatement(
            db,
            """
            UPDATE items SET copyInode = ?, copySize = ?, copyModified = ?, copyChanged = ?, copyRecorded = ?
            WHERE databaseID = ?
            """)
        statement.bind(1, Int64(bitPattern: mark.inode))
        statement.bind(2, mark.size)
        statement.bind(3, mark.modified.nanoseconds)
        statement.bind(4, mark.changed.nanoseconds)
        statement.bind(5, mark.recorded.nanoseconds)
        statement.bind(6, databaseID)
        try statement.run()
    }
}

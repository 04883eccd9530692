public import Model

/// What a transaction writes of the copies that are here: `cloudStatus`, the copy's columns, triggers and activity. Of what is here
/// alone, all of its row.
extension ItemTable where Access == Transaction {
    /// Writes a new item's row and notes that it was added.
    /// - Returns: the item with its `databaseID` and anchor.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    @discardableResult
    public func insert(_ item: Item) throws -> Item {
        let statement = try RawStatement(db, ItemWrite.insertion)
        let anchor = try access.anchor
        item.bindIdentity(to: statement)
        item.bindLocal(to: statement, after: Item.identityColumns.count, anchor: anchor)
        try statement.run()
        var stored = item
        stored.databaseID = insertedID()
        stored.anchor = anchor
        access.noteAdded(stored.databaseID)
        return stored
    }

    /// Writes all of an item's row and notes that it was updated. `item.databaseID` says which row.
    /// - Returns: the item with its new anchor.
    /// - Throws: `.internal` if there is no such row, or SQLite's error; see ``DatabaseReads``.
    @discardableResult
    public func update(_ item: Item) throws -> Item {
        let statement = try RawStatement(db, ItemWrite.replacement)
        item.bindIdentity(to: statement)
        return try update(item, by: statement, after: Item.identityColumns.count)
    }

    /// Writes what is here of an item: `cloudStatus`, copy, triggers, last use and activity; and notes that it was updated. What else
    /// the value holds is not written, so that the indexes of names and ids are not touched.
    /// - Returns: the item with its new anchor.
    /// - Throws: As ``update(_:)``.
    @discardableResult
    public func updateLocal(_ item: Item) throws -> Item {
        try update(item, by: RawStatement(db, ItemWrite.localReplacement), after: 0)
    }

    private func update(_ item: Item, by statement: RawStatement, after count: Int) throws -> Item {
        let anchor = try access.anchor
        item.bindLocal(to: statement, after: count, anchor: anchor)
        statement.bind(Int32(count + Item.localColumns.count + 1), item.databaseID)
        try statement.run()
        guard changedRows == 1 else {
            throw Failure(.internal, "The item \(item.path) has no row (\(item.databaseID))")
        }
        var stored = item
        stored.anchor = anchor
        access.noteUpdated(stored.databaseID)
        return stored
    }

    /// Takes an item's row away and notes that it was removed.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func delete(databaseID: ItemRowID) throws {
        try run("DELETE FROM items WHERE databaseID = ?", .id(databaseID))
        access.noteRemoved(databaseID)
    }

    /// A file was known again by its bytes. A mark is nothing that anybody but the tree sees: no observer hears of it.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func renewMark(_ mark: FileMark, databaseID: ItemRowID) throws {
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

    /// An item's copy is no longer here.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func dropCopy(of item: Item) throws {
        guard var item = try self.item(databaseID: item.databaseID) else { return }
        item.cloudStatus = .cloudOnly
        (item.copy, item.downloadTrigger, item.formerTrigger) = (nil, nil, nil)
        try updateLocal(item)
    }

    /// The file at the row's path counts for another row from now on. A row for what is here alone ends.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func forgetLocalFile(of row: ScanRow) throws {
        guard row.fileID != nil else { return try delete(databaseID: row.databaseID) }
        try run(
            """
            UPDATE items SET cloudStatus = \(CloudStatus.cloudOnly.sql), copyETag = NULL, copyETagStrength = NULL,
              copyDigest = NULL, copyInode = NULL, copySize = NULL, copyModified = NULL, copyChanged = NULL,
              copyRecorded = NULL, downloadTrigger = NULL, formerTrigger = NULL, anchor = ?
            WHERE databaseID = ?
            """, .integer(access.anchor), .id(row.databaseID))
        access.noteUpdated(row.databaseID)
    }

    /// At the item's path lies a file of a person's that the server is not known to have.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func meetUnknownFile(at localID: LocalID) throws {
        try ids(
            """
            UPDATE items SET cloudStatus = \(CloudStatus.locallyModified.sql), copyETag = NULL, copyETagStrength = NULL,
              copyDigest = NULL, anchor = ?
            WHERE localID = ? RETURNING databaseID
            """, .integer(access.anchor), .text(localID.text)
        ).forEach(access.noteUpdated)
    }
}

/// Made once: they are looked up by their text, for each item.
private enum ItemWrite {
    static let insertion: String = {
        let columns = (Item.identityColumns + Item.localColumns).map(\.sql)
        let places = columns.map { _ in "?" }
        return "INSERT INTO items (\(columns.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))"
    }()
    static let replacement = replacement(of: Item.identityColumns + Item.localColumns)
    static let localReplacement = replacement(of: Item.localColumns)

    private static func replacement(of columns: [ItemColumn]) -> String {
        "UPDATE items SET \(columns.map { "\($0.sql) = ?" }.joined(separator: ", ")) WHERE databaseID = ?"
    }
}

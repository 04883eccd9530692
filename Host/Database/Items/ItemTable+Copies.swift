public import Model

/// The writes that concern local copies: `cloudStatus`, the copy's columns, triggers and activity. For an item that is
/// only here, they write the whole row.
extension ItemTable where Access == Transaction {
    /// Writes a new item's row and notes that the item was added.
    /// - Returns: The item with its `databaseID` and anchor.
    @discardableResult
    public func insert(_ item: Item) throws -> Item {
        let statement = try RawStatement(db, ItemWrite.insertion)
        let anchor = try access.anchor
        item.bindIdentity(to: statement)
        item.bindLocal(to: statement, after: Item.identityColumns.count, anchor: anchor)
        let row = ItemRowID(try access.takeItemRows())
        statement.bind(Int32(Item.identityColumns.count + Item.localColumns.count + 1), row)
        try statement.run()
        var stored = item
        stored.databaseID = row
        stored.anchor = anchor
        access.noteAdded(stored.databaseID)
        return stored
    }

    /// Writes all of the row that `item.databaseID` names, and notes that the item was updated.
    /// - Returns: The item with its new anchor.
    /// - Throws: `.internal` if there is no such row.
    @discardableResult
    public func update(_ item: Item) throws -> Item {
        let statement = try RawStatement(db, ItemWrite.replacement)
        item.bindIdentity(to: statement)
        return try update(item, by: statement, after: Item.identityColumns.count)
    }

    /// Writes an item's local state (`cloudStatus`, copy, triggers, last use and activity), and notes that the item was
    /// updated. The other fields are not written, so that the indexes of names and ids are not touched.
    /// - Returns: The item with its new anchor.
    /// - Throws: The errors of ``update(_:)``.
    @discardableResult
    public func updateLocal(_ item: Item) throws -> Item {
        try update(item, by: RawStatement(db, ItemWrite.localReplacement), after: 0)
    }

    /// Writes an item's local state as ``updateLocal(_:)`` does, after its copy was downloaded. If the copy was
    /// distrusted, it is trusted from now on.
    /// - Returns: The item with its new anchor.
    /// - Throws: The errors of ``update(_:)``.
    @discardableResult
    public func updateDownloaded(_ item: Item) throws -> Item {
        try update(item, by: RawStatement(db, ItemWrite.downloadedReplacement), after: 0)
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

    /// Deletes an item's row and notes that the item was removed.
    public func delete(databaseID: ItemRowID) throws {
        try run("DELETE FROM items WHERE databaseID = ?", .id(databaseID))
        access.noteRemoved(databaseID)
    }

    /// Writes the new mark of a file that was recognised by its content. Only the tree uses marks, so that the change
    /// is not noted for the observer.
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

    /// Records that an item's copy is no longer here.
    public func dropCopy(of item: Item) throws {
        guard var item = try self.item(databaseID: item.databaseID) else { return }
        item.cloudStatus = .cloudOnly
        (item.copy, item.downloadTrigger, item.formerTrigger) = (nil, nil, nil)
        try updateLocal(item)
    }

    /// Removes the local file from a row, since the file now belongs to another row. The row of an item that is only
    /// here is deleted.
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

    /// Has a copy count as changed here if the server lists its version with another size than the copy has: the server
    /// does not hold what it gave or took, and the copy may be the only whole content.
    /// - Returns: The copy's size; nil if the listing does not contradict it.
    public func keepIfContradicted(copyOf row: ItemRowID) throws -> Int64? {
        let size = try self.row(
            """
            UPDATE items SET cloudStatus = \(CloudStatus.locallyModified.sql), copyETag = NULL, copyETagStrength = NULL,
              copyDigest = NULL, anchor = ?
            WHERE databaseID = ? AND type = \(Item.Kind.file.rawValue) AND copySize <> size AND copyETag = etag
              AND cloudStatus = \(CloudStatus.localCopy.sql)
              AND (copyETagStrength = \(ETag.Strength.substitute.sql)) = (etagStrength = \(ETag.Strength.substitute.sql))
            RETURNING copySize
            """, [.integer(access.anchor), .id(row)]
        ) { $0.integer(0) ?? 0 }
        if size != nil { access.noteUpdated(row) }
        return size
    }

    /// Records that a person's file, which the server is not known to have, lies at the item's path.
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

/// The statements' texts, built once, since each item's write uses them as keys of the statement cache.
private enum ItemWrite {
    static let insertion: String = {
        let columns = (Item.identityColumns + Item.localColumns).map(\.sql)
        let places = columns.map { _ in "?" }
        // The last of these columns is the anchor, which the row came with.
        return """
            INSERT INTO items (\(columns.joined(separator: ", ")), databaseID, came)
            VALUES (\(places.joined(separator: ", ")), ?, ?\(columns.count))
            """
    }()
    static let replacement = replacement(of: Item.identityColumns + Item.localColumns)
    static let localReplacement = replacement(of: Item.localColumns)
    static let downloadedReplacement = replacement(
        of: Item.localColumns,
        and: ", racy = iif(racy = \(ScanRow.Racy.distrusted.sql), \(ScanRow.Racy.no.sql), racy)")

    private static func replacement(of columns: [ItemColumn], and more: String = "") -> String {
        "UPDATE items SET \(columns.map { "\($0.sql) = ?" }.joined(separator: ", "))\(more) WHERE databaseID = ?"
    }
}

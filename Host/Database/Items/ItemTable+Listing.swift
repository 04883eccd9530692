public import Model

/// What a transaction writes of the server's listings: the columns of ``ListedItem``, `fileID`, the path, `listedETag`, `racy` and
/// `removedAt`. Copies stay where they are. ``ScanTable`` decides what goes and what comes back.
extension ItemTable where Access == Transaction {
    /// Adds a row for an item that was not known.
    /// - Parameter inheritsLocalFile: a file of a person's lies at the path, which the server is not known to have.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    @discardableResult
    public func insertListed(
        _ entry: ListedItem, fileID: FileID, localID: LocalID = .random(), racy: ScanRow.Racy,
        inheritsLocalFile: Bool = false
    ) throws -> ItemRowID {
        let statement = try RawStatement(
            db,
            """
            INSERT INTO items (localID, fileID, path, parentPath, name, type, size, mimeType, etag, etagStrength,
              lastModified, favorite, owner, permissions, racy, cloudStatus, anchor)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind(1, localID.text)
        statement.bind(2, fileID.text)
        statement.bind(3, entry.path.text)
        statement.bind(4, entry.path.parent.text)
        statement.bind(5, entry.path.name)
        statement.bind(6, Int64(entry.kind.rawValue))
        entry.bindProperties(to: statement, from: 7)
        statement.bind(15, Int64(racy.rawValue))
        statement.bind(16, Int64((inheritsLocalFile ? CloudStatus.locallyModified : .cloudOnly).rawValue))
        statement.bind(17, try access.anchor)
        try statement.run()
        let id: ItemRowID = insertedID()
        access.noteAdded(id)
        return id
    }

    /// Takes over what a listing says of a row that is at the entry's path already.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func updateListed(_ row: ScanRow, with entry: ListedItem, fileID: FileID, racy: ScanRow.Racy) throws {
        let statement = try RawStatement(
            db,
            """
            UPDATE items SET fileID = ?, size = ?, mimeType = ?, etag = ?, etagStrength = ?, lastModified = ?,
              favorite = ?, owner = ?, permissions = ?, racy = ?, anchor = ?
            WHERE databaseID = ?
            """)
        statement.bind(1, fileID.text)
        entry.bindProperties(to: statement, from: 2)
        statement.bind(10, Int64(racy.rawValue))
        statement.bind(11, try access.anchor)
        statement.bind(12, row.databaseID)
        try statement.run()
        access.noteUpdated(row.databaseID)
    }

    /// An ETag's strength and the race with the listing change without a change of the item: nobody is told.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func renewListed(_ row: ScanRow, etag: ETag?, racy: ScanRow.Racy) throws {
        try run(
            "UPDATE items SET etagStrength = ?, racy = ? WHERE databaseID = ?",
            .optional(etag.map { Int64($0.strength.rawValue) }), .number(of: racy), .id(row.databaseID))
    }

    /// A copy may hold the first of two contents with one ETag. It is of the server's version all the same: nobody is told, and it
    /// stays until it was fetched once more.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func distrustCopy(of row: ScanRow) throws {
        try run(
            "UPDATE items SET racy = ? WHERE databaseID = ?", .number(of: ScanRow.Racy.distrusted),
            .id(row.databaseID))
    }

    /// A copy was fetched after it was found that an earlier one may be the first of two contents.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func trustCopy(databaseID: ItemRowID) throws {
        try run(
            "UPDATE items SET racy = ? WHERE databaseID = ? AND racy = ?", .number(of: ScanRow.Racy.no),
            .id(databaseID), .number(of: ScanRow.Racy.distrusted))
    }

    /// What was only here is on the server too, with another content as far as is known.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func meetLocalItem(_ row: ScanRow, with entry: ListedItem, fileID: FileID) throws {
        try updateListed(row, with: entry, fileID: fileID, racy: .no)
        let status: CloudStatus = entry.kind == .folder ? .localCopy : .locallyModified
        try run(
            "UPDATE items SET cloudStatus = ? WHERE databaseID = ?", .number(of: status), .id(row.databaseID))
    }

    /// Records that a folder's children were listed whole under this version of it.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func setListed(folder databaseID: ItemRowID, etag: ETag?) throws {
        // What is so already makes no page of the database new.
        try run(
            "UPDATE items SET listedETag = ?1 WHERE databaseID = ?2 AND listedETag IS NOT ?1",
            .optional(etag?.opaque), .id(databaseID))
    }

    /// The folders above a path do not count as listed any more: the next scan lists them, whatever their ETags are.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func forgetListings(above path: ItemPath) throws {
        var folder = path
        while !folder.isRoot {
            folder = folder.parent
            if let row = try scanRow(at: folder) { try setListed(folder: row.databaseID, etag: nil) }
        }
    }

    /// No folder counts as listed any more.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func forgetListings() throws {
        try run("UPDATE items SET listedETag = NULL WHERE listedETag IS NOT NULL")
    }

    /// A local file that was changed here and whose item is gone on the server is only here now. It is never removed.
    ///
    /// Called when a scan has finished: until then the item may turn up elsewhere.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func keepModifiedOfRemoved() throws {
        try ids(
            """
            UPDATE items SET removedAt = NULL, fileID = NULL, etag = NULL, etagStrength = NULL,
              cloudStatus = \(CloudStatus.localOnly.sql), copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL,
              racy = \(ScanRow.Racy.no.sql), anchor = ?
            WHERE removedAt IS NOT NULL AND \(ItemSQL.isModified) AND NOT \(ItemSQL.isMissing)
              AND NOT \(ItemSQL.hasSuccessor)
            RETURNING databaseID
            """, .integer(access.anchor)
        ).forEach(access.noteUpdated)
    }

    // MARK: What is not on the server. Who calls these tells who is to know.

    /// Flags a row that the server had as no longer there.
    /// - Returns: its id, if it was not flagged before.
    func flagRemoved(_ databaseID: ItemRowID, at time: Timestamp) throws -> [ItemRowID] {
        try ids(
            """
            UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ? AND \(ItemSQL.isListed) RETURNING databaseID
            """, .time(time), .integer(access.anchor), .id(databaseID))
    }

    /// Flags all that the server had below a folder as no longer there.
    /// - Returns: the ids of those that were not flagged before.
    func flagRemoved(below folder: ItemPath, at time: Timestamp) throws -> [ItemRowID] {
        try ids(
            """
            UPDATE items SET removedAt = ?, anchor = ? WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isListed)
            RETURNING databaseID
            """, [.time(time), .integer(access.anchor)] + ItemSQL.range(below: folder))
    }

    /// Flags the missing items as no longer on the server.
    /// - Parameter folder: only those directly in it; nil: all.
    /// - Returns: the ids of those that were not flagged before.
    func flagMissingAsRemoved(in folder: ItemPath?, at time: Timestamp) throws -> [ItemRowID] {
        try ids(
            """
            UPDATE items SET removedAt = ?1, anchor = ?2
            WHERE \(ItemSQL.isMissing) AND removedAt IS NULL AND (?3 IS NULL OR parentPath = ?3)
            RETURNING databaseID
            """, .time(time), .integer(access.anchor), .optional(folder?.text))
    }

    /// Rows that are flagged count as gone since another time.
    func setRemoved(_ ids: [ItemRowID], at time: Timestamp) throws {
        for id in ids {
            try run(
                "UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ?", .time(time),
                .integer(access.anchor), .id(id))
        }
    }

    /// A row is on the server again. Of a folder it is not known what is in it.
    func unflagRemoved(_ databaseID: ItemRowID) throws {
        try run("UPDATE items SET removedAt = NULL, listedETag = NULL WHERE databaseID = ?", .id(databaseID))
    }

    /// The missing rows below a folder that were flagged at a time are in the list again, but for those whose path is taken.
    /// - Returns: their ids.
    func unflagMissing(below folder: ItemPath, removedAt time: Timestamp) throws -> [ItemRowID] {
        try ids(
            """
            UPDATE items SET removedAt = NULL, anchor = ?
            WHERE \(ItemSQL.isBelow) AND removedAt = ? AND \(ItemSQL.isMissing) AND NOT \(ItemSQL.hasSuccessor)
            RETURNING databaseID
            """, [.integer(access.anchor)] + ItemSQL.bounds(below: folder) + [.time(time)])
    }

    /// Rows of one path that went at one time cannot all come back: the last one that was there can. The others went a moment before.
    func separate(below folder: ItemPath, removedAt time: Timestamp) throws {
        try run(
            """
            UPDATE items SET removedAt = removedAt - 1
            WHERE \(ItemSQL.isBelow) AND removedAt = ? AND EXISTS (
              SELECT 1 FROM items AS later WHERE later.path = items.path AND later.removedAt = items.removedAt
                AND later.databaseID > items.databaseID)
            """, ItemSQL.bounds(below: folder) + [.time(time)])
    }

    // MARK: Moves

    /// A row is at another path, and on the server.
    func setPath(_ path: ItemPath, of databaseID: ItemRowID) throws {
        try run(
            "UPDATE items SET path = ?, parentPath = ?, name = ?, removedAt = NULL WHERE databaseID = ?", .path(path),
            .path(path.parent), .text(path.name), .id(databaseID))
    }

    /// Rewrites the paths of all below a folder, whatever their state: they lie where the folder goes.
    /// - Parameters:
    ///   - removedAt: The rows that were flagged at this time come back with the folder.
    ///   - alone: No others move.
    /// - Returns: the ids of the rows.
    func movePaths(
        below old: ItemPath, to new: ItemPath, restoring removedAt: Timestamp?, alone: Bool
    ) throws -> [ItemRowID] {
        // What is only here below the new path is found again in the tree.
        try run("DELETE FROM items WHERE \(ItemSQL.isBelow) AND fileID IS NULL", ItemSQL.bounds(below: new))
        let (path, parent) = (
            MovedPath(from: old, to: new, column: "path"), MovedPath(from: old, to: new, column: "parentPath")
        )
        return try ids(
            """
            UPDATE items SET path = \(path.sql), parentPath = CASE WHEN parentPath = ? THEN ? ELSE \(parent.sql) END,
              removedAt = CASE WHEN removedAt IS ? THEN NULL ELSE removedAt END, anchor = ?
            WHERE \(ItemSQL.isBelow) AND (NOT ? OR removedAt IS ?)
            RETURNING databaseID
            """,
            path.arguments + [.path(old), .path(new)] + parent.arguments + [.time(removedAt), .integer(access.anchor)]
                + ItemSQL.bounds(below: old) + [.flag(alone), .time(removedAt)])
    }
}

extension ListedItem {
    /// Binds what may change without another id or path: `size`, `mimeType`, `etag`, `etagStrength`, `lastModified`, `favorite`, `owner`,
    /// `permissions`, in this order.
    fileprivate func bindProperties(to statement: RawStatement, from first: Int32) {
        statement.bind(first, size)
        statement.bind(first + 1, mimeType)
        statement.bind(first + 2, etag?.opaque)
        statement.bind(first + 3, etag.map { Int64($0.strength.rawValue) })
        statement.bind(first + 4, lastModified?.nanoseconds)
        statement.bind(first + 5, isFavorite ? 1 : 0)
        statement.bind(first + 6, owner)
        statement.bind(first + 7, permissions)
    }
}

/// A path below a folder as it is when the folder has moved.
struct MovedPath {
    /// The new value of the column.
    let sql: String
    let arguments: [SQLValue]

    init(from old: ItemPath, to new: ItemPath, column: String) {
        // substr on a blob counts bytes.
        sql = "CAST(CAST(? AS BLOB) || substr(CAST(\(column) AS BLOB), ?) AS TEXT)"
        arguments = [.text(new.prefixOfItemsBelow), .integer(Int64(old.prefixOfItemsBelow.utf8.count + 1))]
    }
}

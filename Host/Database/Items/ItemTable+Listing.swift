public import Model

/// The writes that concern the server's listings: the columns of ``ListedItem``, `fileID`, the path, `listedETag`,
/// `racy` and `removedAt`. These writes do not touch copies. ``ScanTable`` decides which items are removed and which
/// are restored.
extension ItemTable where Access == Transaction {
    /// Adds a row for an item that was not known.
    /// - Parameter inheritsLocalFile: Whether a person's file, which the server is not known to have, lies at the path.
    @discardableResult
    public func insertListed(
        _ entry: ListedItem, fileID: FileID, localID: LocalID = .random(), racy: ScanRow.Racy,
        inheritsLocalFile: Bool = false
    ) throws -> ItemRowID {
        let statement = try RawStatement(
            db,
            """
            INSERT INTO items (localID, fileID, path, parentPath, name, type, size, mimeType, etag, etagStrength,
              lastModified, favorite, owner, permissions, racy, cloudStatus, anchor, databaseID, came)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?17)
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
        let id = ItemRowID(try access.takeItemRows())
        statement.bind(18, id)
        try statement.run()
        access.noteAdded(id)
        return id
    }

    /// Writes a listing's entry into the row that already has the entry's path. A download that failed is tried again
    /// at once if the entry has another version, size or permissions.
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
        if row.kind == .file, row.mayBeFetchedOtherwise(as: entry) { try access.journal.endRetries(of: row.localID) }
    }

    /// Writes an ETag's strength and the race with the listing. They change without a change of the item, so that no
    /// change is noted.
    public func renewListed(_ row: ScanRow, etag: ETag?, racy: ScanRow.Racy) throws {
        try run(
            "UPDATE items SET etagStrength = ?, racy = ? WHERE databaseID = ?",
            .optional(etag.map { Int64($0.strength.rawValue) }), .number(of: racy), .id(row.databaseID))
    }

    /// Records that a copy may hold the first of two contents with one ETag. The copy still counts as the server's
    /// version, so that no change is noted, and it stays until the file has been fetched once more
    /// (``updateDownloaded(_:)``).
    public func distrustCopy(of row: ScanRow) throws {
        try run(
            "UPDATE items SET racy = ? WHERE databaseID = ?", .number(of: ScanRow.Racy.distrusted),
            .id(row.databaseID))
    }

    /// Records that an item that was only here is now on the server too, with another content as far as is known.
    public func meetLocalItem(_ row: ScanRow, with entry: ListedItem, fileID: FileID) throws {
        try updateListed(row, with: entry, fileID: fileID, racy: .no)
        let status: CloudStatus = entry.kind == .folder ? .localCopy : .locallyModified
        try run(
            "UPDATE items SET cloudStatus = ? WHERE databaseID = ?", .number(of: status), .id(row.databaseID))
    }

    /// Records that a folder's children were listed completely under this ETag of the folder.
    public func setListed(folder databaseID: ItemRowID, etag: ETag?) throws {
        // An unchanged value is not written, so that no page of the database is rewritten.
        try run(
            "UPDATE items SET listedETag = ?1 WHERE databaseID = ?2 AND listedETag IS NOT ?1",
            .optional(etag?.opaque), .id(databaseID))
    }

    /// Makes the folders above a path count as not listed. The next scan lists them, whatever their ETags are.
    public func forgetListings(above path: ItemPath) throws {
        var folder = path
        while !folder.isRoot {
            folder = folder.parent
            if let row = try scanRow(at: folder) { try setListed(folder: row.databaseID, etag: nil) }
        }
    }

    /// Makes all folders count as not listed.
    public func forgetListings() throws {
        try run("UPDATE items SET listedETag = NULL WHERE listedETag IS NOT NULL")
    }

    /// Turns locally modified items that are gone on the server into local items (`localOnly`). Their files are never
    /// removed.
    ///
    /// This function is called when a scan has finished. Until then, the item may be found at another path.
    public func keepModifiedOfRemoved() throws {
        try ids(
            """
            UPDATE items SET removedAt = NULL, fileID = NULL, etag = NULL, etagStrength = NULL,
              cloudStatus = \(CloudStatus.localOnly.sql), copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL,
              racy = \(ScanRow.Racy.no.sql), anchor = ?
            WHERE removedAt IS NOT NULL AND deletedBy IS NULL AND \(ItemSQL.isModified) AND NOT \(ItemSQL.isMissing)
              AND NOT \(ItemSQL.hasSuccessor)
            RETURNING databaseID
            """, .integer(access.anchor)
        ).forEach(access.noteUpdated)
    }

    // MARK: Items that are not on the server. The callers of these functions note the changes.

    /// Flags a row of an item that the server had as removed.
    /// - Returns: The row's id, if the row was not flagged before.
    func flagRemoved(_ databaseID: ItemRowID, at time: Timestamp) throws -> [ItemRowID] {
        try ids(
            """
            UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ? AND \(ItemSQL.isListed) RETURNING databaseID
            """, .time(time), .integer(access.anchor), .id(databaseID))
    }

    /// Flags all items that the server had below a folder as removed.
    /// - Parameter exempt: The path of an item that is not flagged, with all below it; nil for none.
    /// - Returns: The ids of the rows that were not flagged before.
    func flagRemoved(
        below folder: ItemPath, without exempt: ItemPath? = nil, at time: Timestamp
    ) throws -> [ItemRowID] {
        // What was to be copied there went before a listing told of it.
        try deleteCopies(below: folder)
        return try ids(
            """
            UPDATE items SET removedAt = ?, anchor = ? WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isListed)
              AND (? OR NOT (path = ? OR \(ItemSQL.isInRange)))
            RETURNING databaseID
            """,
            [.time(time), .integer(access.anchor)] + ItemSQL.range(below: folder)
                + [.flag(exempt == nil), .path(exempt ?? folder)] + ItemSQL.range(below: exempt ?? folder))
    }

    /// Flags the missing items as removed from the server.
    /// - Parameter folder: The folder whose own missing entries are flagged; nil for all missing items.
    /// - Returns: The ids of the rows that were not flagged before.
    func flagMissingAsRemoved(in folder: ItemPath?, at time: Timestamp) throws -> [ItemRowID] {
        try ids(
            """
            UPDATE items SET removedAt = ?1, anchor = ?2
            WHERE \(ItemSQL.isMissing) AND removedAt IS NULL AND (?3 IS NULL OR parentPath = ?3)
            RETURNING databaseID
            """, .time(time), .integer(access.anchor), .optional(folder?.text))
    }

    /// Changes the time of removal of flagged rows.
    func setRemoved(_ ids: [ItemRowID], at time: Timestamp) throws {
        for id in ids {
            try run(
                "UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ?", .time(time),
                .integer(access.anchor), .id(id))
        }
    }

    /// Records that a row is on the server again. A folder counts as not listed.
    func unflagRemoved(_ databaseID: ItemRowID) throws {
        try run(
            "UPDATE items SET removedAt = NULL, listedETag = NULL, anchor = ? WHERE databaseID = ?",
            .integer(access.anchor), .id(databaseID))
    }

    /// Restores the missing rows below a folder that were flagged at a time, except those whose path is taken.
    /// - Returns: The rows' ids.
    func unflagMissing(below folder: ItemPath, removedAt time: Timestamp) throws -> [ItemRowID] {
        try ids(
            """
            UPDATE items SET removedAt = NULL, anchor = ?
            WHERE \(ItemSQL.isBelow) AND removedAt = ? AND \(ItemSQL.isMissing) AND NOT \(ItemSQL.hasSuccessor)
            RETURNING databaseID
            """, [.integer(access.anchor)] + ItemSQL.bounds(below: folder) + [.time(time)])
    }

    /// Moves the time of removal of rows that must not come back to a moment earlier. If several rows of one path were
    /// flagged at the same time, only the newest can come back.
    func separate(below folder: ItemPath, removedAt time: Timestamp) throws {
        try ids(
            """
            UPDATE items SET removedAt = removedAt - 1, anchor = ?
            WHERE \(ItemSQL.isBelow) AND removedAt = ? AND EXISTS (
              SELECT 1 FROM items AS later WHERE later.path = items.path AND later.removedAt = items.removedAt
                AND later.databaseID > items.databaseID)
            RETURNING databaseID
            """, [.integer(access.anchor)] + ItemSQL.bounds(below: folder) + [.time(time)]
        ).forEach(access.noteUpdated)
    }

    // MARK: Moves

    /// Gives a row another path and records that it is on the server.
    func setPath(_ path: ItemPath, of databaseID: ItemRowID) throws {
        try run(
            "UPDATE items SET path = ?, parentPath = ?, name = ?, removedAt = NULL, anchor = ? WHERE databaseID = ?",
            .path(path), .path(path.parent), .text(path.name), .integer(access.anchor), .id(databaseID))
    }

    /// Rewrites the paths of all rows below a folder, whatever their state: they move with the folder.
    /// - Parameters:
    ///   - removedAt: The time of removal of the rows that are restored together with the folder.
    ///   - alone: Whether only these rows move.
    ///   - condition: An SQL term for the rows that move, and its arguments.
    /// - Returns: The ids of the rows.
    func movePaths(
        below old: ItemPath, to new: ItemPath, restoring removedAt: Timestamp?, alone: Bool,
        where condition: (sql: String, arguments: [SQLValue]) = ("1", [])
    ) throws -> [ItemRowID] {
        // Local items below the new path are found again in the tree. Items that are about to be made keep their rows,
        // also those that are about to be deleted again, unless another item comes to their very path.
        let origin = MovedPath(from: new, to: old, column: "items.path")
        try run(
            """
            DELETE FROM items WHERE \(ItemSQL.isBelow) AND fileID IS NULL AND removedAt IS NULL
              AND (NOT \(ItemSQL.isNotOnlyHere) OR EXISTS (SELECT 1 FROM items AS coming WHERE coming.path = \(origin.sql)
                AND (coming.removedAt IS NULL OR coming.removedAt IS ?)))
            """, ItemSQL.bounds(below: new) + origin.arguments + [.time(removedAt)])
        let (path, parent) = (
            MovedPath(from: old, to: new, column: "path"), MovedPath(from: old, to: new, column: "parentPath")
        )
        return try ids(
            """
            UPDATE items SET path = \(path.sql), parentPath = CASE WHEN parentPath = ? THEN ? ELSE \(parent.sql) END,
              removedAt = CASE WHEN removedAt IS ? THEN NULL ELSE removedAt END, anchor = ?
            WHERE \(ItemSQL.isBelow) AND (NOT ? OR removedAt IS ?) AND \(condition.sql)
            RETURNING databaseID
            """,
            path.arguments + [.path(old), .path(new)] + parent.arguments + [.time(removedAt), .integer(access.anchor)]
                + ItemSQL.bounds(below: old) + [.flag(alone), .time(removedAt)] + condition.arguments)
    }
}

extension ListedItem {
    /// Binds the properties that may change while id and path stay the same: `size`, `mimeType`, `etag`,
    /// `etagStrength`, `lastModified`, `favorite`, `owner`, `permissions`, in this order.
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

/// The SQL for the path that an item has after a folder above it has moved.
struct MovedPath {
    /// The SQL expression for the new value of the column.
    let sql: String
    let arguments: [SQLValue]

    init(from old: ItemPath, to new: ItemPath, column: String) {
        // `substr` counts bytes in a blob.
        sql = "CAST(CAST(? AS BLOB) || substr(CAST(\(column) AS BLOB), ?) AS TEXT)"
        arguments = [.text(new.prefixOfItemsBelow), .integer(Int64(old.prefixOfItemsBelow.utf8.count + 1))]
    }
}

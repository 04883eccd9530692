import GRDB
public import Model

extension DatabaseReads {
    /// Whether a copy is to be fetched once more, since it may hold the first of two contents with one ETag.
    public func isCopyDistrusted(databaseID: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT racy = 3 FROM items WHERE databaseID = ?"), arguments: [databaseID])
            ?? false
    }
}

extension Transaction {
    /// Adds a row for an item that was not known.
    /// - Parameter inheritsLocalFile: a file of a person's lies at the path, which the server is not known to have.
    @discardableResult
    public func insertListed(
        _ entry: ListedItem, fileID: FileID, localID: LocalID = .random(), racy: ScanRow.Racy,
        inheritsLocalFile: Bool = false
    ) throws -> Int64 {
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
        statement.bind(7, entry.size)
        statement.bind(8, entry.mimeType)
        statement.bind(9, entry.etag?.opaque)
        statement.bind(10, entry.etag.map { Int64($0.strength.rawValue) })
        statement.bind(11, entry.lastModified?.nanoseconds)
        statement.bind(12, entry.isFavorite ? 1 : 0)
        statement.bind(13, entry.owner)
        statement.bind(14, entry.permissions)
        statement.bind(15, Int64(racy.rawValue))
        statement.bind(16, Int64((inheritsLocalFile ? CloudStatus.locallyModified : .cloudOnly).rawValue))
        statement.bind(17, try anchor)
        try statement.run()
        let id = db.lastInsertedRowID
        noteAdded(id)
        return id
    }

    /// Takes over what a listing says of a row that is at the entry's path already.
    public func updateListed(_ row: ScanRow, with entry: ListedItem, fileID: FileID, racy: ScanRow.Racy) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE items SET fileID = ?, size = ?, mimeType = ?, etag = ?, etagStrength = ?, lastModified = ?,
                  favorite = ?, owner = ?, permissions = ?, racy = ?, anchor = ?
                WHERE databaseID = ?
                """)
        try statement.execute(arguments: [
            fileID.text, entry.size, entry.mimeType, entry.etag?.opaque, entry.etag?.strength.rawValue,
            entry.lastModified?.nanoseconds, entry.isFavorite, entry.owner, entry.permissions, racy.rawValue, anchor,
            row.databaseID,
        ])
        noteUpdated(row.databaseID)
    }

    /// An ETag's strength and the race with the listing change without a change of the item: nobody is told.
    public func renewListed(_ row: ScanRow, etag: ETag?, racy: ScanRow.Racy) throws {
        try db.cachedStatement(sql: "UPDATE items SET etagStrength = ?, racy = ? WHERE databaseID = ?")
            .execute(arguments: [etag?.strength.rawValue, racy.rawValue, row.databaseID])
    }

    /// A copy may hold the first of two contents with one ETag. It is of the server's version all the same: nobody is told, and it
    /// stays until it was fetched once more.
    public func distrustCopy(of row: ScanRow) throws {
        try db.cachedStatement(sql: "UPDATE items SET racy = 3 WHERE databaseID = ?").execute(arguments: [
            row.databaseID
        ])
    }

    /// A copy was fetched after it was found that an earlier one may be the first of two contents.
    public func trustCopy(databaseID: Int64) throws {
        let statement = try RawStatement(db, "UPDATE items SET racy = 0 WHERE databaseID = ? AND racy = 3")
        statement.bind(1, databaseID)
        try statement.run()
    }

    /// What was only here is on the server too, with another content as far as is known.
    public func meetLocalItem(_ row: ScanRow, with entry: ListedItem, fileID: FileID) throws {
        try updateListed(row, with: entry, fileID: fileID, racy: .no)
        let status: CloudStatus = entry.kind == .folder ? .localCopy : .locallyModified
        try db.cachedStatement(sql: "UPDATE items SET cloudStatus = ? WHERE databaseID = ?")
            .execute(arguments: [status.rawValue, row.databaseID])
    }

    /// Records that a folder's children were listed whole under this version of it.
    public func setListed(folder databaseID: Int64, etag: ETag?) throws {
        // What is so already makes no page of the database new.
        try db.cachedStatement(sql: "UPDATE items SET listedETag = ?1 WHERE databaseID = ?2 AND listedETag IS NOT ?1")
            .execute(arguments: [etag?.opaque, databaseID])
    }

    /// The folders above a path do not count as listed any more: the next scan lists them, whatever their ETags are.
    public func forgetListings(above path: ItemPath) throws {
        var folder = path
        while !folder.isRoot {
            folder = folder.parent
            if let row = try scanRow(at: folder) { try setListed(folder: row.databaseID, etag: nil) }
        }
    }

    /// No folder counts as listed any more.
    public func forgetListings() throws {
        try db.execute(sql: "UPDATE items SET listedETag = NULL WHERE listedETag IS NOT NULL")
    }

    /// Flags a row, and all below it, as no longer on the server. Copies stay where they are.
    public func removeListed(_ row: ScanRow, at time: Timestamp) throws {
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ? AND removedAt IS NULL
                    RETURNING databaseID
                    """), arguments: [time.nanoseconds, anchor, row.databaseID])
        ids.forEach(noteRemoved)
        try forgetMissing(ids)
        guard row.kind == .folder else { return }
        let below = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = ?, anchor = ?
                    WHERE path >= ? AND path < ? AND removedAt IS NULL AND fileID IS NOT NULL
                    RETURNING databaseID
                    """), arguments: [time.nanoseconds, anchor] + Self.range(below: row.path))
        below.forEach(noteRemoved)
        try forgetMissing(below)
    }

    /// A removed item is on the server again, where it was: the row keeps its id, copy and last use.
    public func restoreListed(_ row: ScanRow, with entry: ListedItem, fileID: FileID, racy: ScanRow.Racy) throws {
        try db.cachedStatement(sql: "UPDATE items SET removedAt = NULL, listedETag = NULL WHERE databaseID = ?")
            .execute(arguments: [row.databaseID])
        if let removedAt = row.removedAt {
            if row.kind == .folder, try isMissing(row.databaseID) {
                try restoreDisplaced(below: row.path, removedAt: removedAt)
            }
            try welcomeBack([row.databaseID])
        }
        try updateListed(row, with: entry, fileID: fileID, racy: racy)
    }

    /// A local file that was changed here and whose item is gone on the server is only here now. It is never removed.
    ///
    /// Called when a scan has finished: until then the item may turn up elsewhere.
    public func keepModifiedOfRemoved() throws {
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = NULL, fileID = NULL, etag = NULL, etagStrength = NULL,
                      cloudStatus = 3, copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL, racy = 0, anchor = ?
                    WHERE removedAt IS NOT NULL AND cloudStatus = 2
                      AND databaseID NOT IN (SELECT databaseID FROM missingItems)
                      AND NOT EXISTS (SELECT 1 FROM items AS other WHERE other.path = items.path AND other.removedAt IS NULL)
                    RETURNING databaseID
                    """), arguments: [anchor])
        ids.forEach(noteUpdated)
    }
}

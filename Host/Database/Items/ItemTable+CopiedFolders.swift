public import Model

/// The rows of what is in a folder that the server is about to copy. They show what the copy will hold, and each takes
/// the server's id as soon as a listing tells of its item.
extension ItemTable where Access == Transaction {
    /// Shows in a copy what the copied folder holds, all of it in one statement.
    /// - Parameter record: The record that is about to copy the folder.
    public func insertCopies(below source: ItemPath, at copy: ItemPath, for record: SyncRecordID) throws {
        let (path, parent, inside) = (
            MovedPath(from: source, to: copy, column: "path"), MovedPath(from: source, to: copy, column: "parentPath"),
            MovedPath(from: source, to: .root, column: "path")
        )
        // The rest of each id is the number of the row that is shown once more.
        let id = LocalID.random().text.dropLast(12)
        let range = ItemSQL.range(below: source)
        let sources = "\(ItemSQL.isInRange) AND \(ItemSQL.isOnServer)"
        let count = try integer("SELECT count(*) FROM items WHERE \(sources)", range) ?? 0
        try ids(
            """
            INSERT INTO items (localID, path, copiedPath, parentPath, name, type, size, mimeType, lastModified, copiedBy,
              anchor, came, databaseID)
            SELECT ? || printf('%012x', databaseID), \(path.sql), \(inside.sql),
              CASE WHEN parentPath = ? THEN ? ELSE \(parent.sql) END, name, type, size, mimeType, lastModified, ?, ?, ?,
              ? - 1 + row_number() OVER (ORDER BY databaseID)
            FROM items WHERE \(sources)
            RETURNING databaseID
            """,
            [.text(String(id))] + path.arguments + inside.arguments + [.path(source), .path(copy)] + parent.arguments
                + [
                    .id(record), .integer(access.anchor), .integer(access.anchor),
                    .integer(access.takeItemRows(count)),
                ] + range
        ).forEach(access.noteAdded)
        for item in try withNewVersions(below: source) {
            let queued = try access.journal.queued(item)
            try run(
                """
                UPDATE items SET size = ?, lastModified = ? WHERE copiedBy = ? AND fileID IS NULL AND copiedPath = ?
                """, .optional(queued.size), .time(queued.lastModified), .id(record),
                .path(item.path.moved(from: source, to: .root)))
        }
    }

    private func withNewVersions(below folder: ItemPath) throws -> [Item] {
        try rows(
            ItemQuery.select(
                """
                WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isOnServer)
                  AND syncActivity & \(SyncActivity.uploading.rawValue) <> 0
                """), ItemSQL.range(below: folder), Item.init)
    }

    /// Writes what the server says of an item in a folder that it has just copied. An item of another kind or size than
    /// was copied is not the item, and is left to the next scan.
    /// - Parameter copy: The path to which the folder was copied.
    public func confirmCopied(_ entry: ListedItem, in copy: ItemPath, by record: SyncRecordID) throws {
        try ids(
            """
            UPDATE items SET fileID = coalesce(?, ? || path), mimeType = ?, etag = ?, etagStrength = ?,
              lastModified = ?, owner = ?, permissions = ?, anchor = ?
            WHERE \(ItemSQL.isCopied) AND copiedBy = ? AND copiedPath = ? AND type = ?
              AND (\(ItemSQL.isFolder) OR size IS ?)
            RETURNING databaseID
            """, .optional(entry.fileID?.text), .text(FileID.substitutePrefix), .optional(entry.mimeType),
            .optional(entry.etag?.opaque), .optional(entry.etag.map { Int64($0.strength.rawValue) }),
            .time(entry.lastModified), .optional(entry.owner), .optional(entry.permissions),
            .integer(access.anchor), .id(record), .path(entry.path.moved(from: copy, to: .root)),
            .integer(Int64(entry.kind.rawValue)),
            .optional(entry.size)
        ).forEach(access.noteUpdated)
    }

    /// Removes a row, and those below it, whose items are not where they were to be copied to.
    public func deleteCopies(atOrBelow path: ItemPath) throws {
        try deleteCopies(where: "removedAt IS NULL AND path = ?", [.path(path)])
        try deleteCopies(below: path)
    }

    /// Removes the rows below a folder whose items are not where they were to be copied to.
    public func deleteCopies(below folder: ItemPath) throws {
        try deleteCopies(where: "removedAt IS NULL AND \(ItemSQL.isInRange)", ItemSQL.range(below: folder))
    }

    private func deleteCopies(where place: String, _ arguments: [SQLValue]) throws {
        guard try hasCopies() else { return }
        try ids("DELETE FROM items WHERE \(ItemSQL.isCopied) AND \(place) RETURNING databaseID", arguments)
            .forEach(access.noteRemoved)
    }
}

extension ItemTable {
    /// Tells whether any row shows what a copied folder holds, and no listing has told of it.
    func hasCopies() throws -> Bool { try exists("SELECT 1 FROM items WHERE \(ItemSQL.isCopied)") }

    /// Tells whether an item is shown because the folder above it is to be copied, or was, and no listing has told of
    /// the item.
    public func isCopied(_ item: Item) throws -> Bool {
        guard item.fileID == nil else { return false }
        return try exists("SELECT 1 FROM items WHERE databaseID = ? AND \(ItemSQL.isCopied)", .id(item.databaseID))
    }

    /// Tells whether another record is about something that a record copies with its folder.
    public func isWorkWaiting(forCopiesBy record: SyncRecordID) throws -> Bool {
        try exists(
            """
            SELECT 1 FROM items WHERE copiedBy = ? AND fileID IS NULL AND (deletedBy IS NOT NULL
              OR EXISTS (SELECT 1 FROM syncRecords WHERE syncRecords.localID = items.localID))
            """, .id(record))
    }

    /// Returns the paths of the entries of a folder that are shown because the folder was copied, and of which no listing
    /// has told.
    public func copies(in folder: ItemPath) throws -> [ItemPath] {
        guard try hasCopies() else { return [] }
        return try rows(
            "SELECT path FROM items WHERE parentPath = ? AND removedAt IS NULL AND \(ItemSQL.isCopied)", [.path(folder)]
        ) { ItemPath(unchecked: $0.text(0) ?? "") }
    }
}

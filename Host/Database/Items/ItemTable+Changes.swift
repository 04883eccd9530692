public import Model

/// The writes that show a change of the server before the server has made it, and those that take it back or confirm
/// it.
extension ItemTable where Access == Transaction {
    /// Adds the row of an item that is about to be made on the server. The row is a placeholder: it has no id of the
    /// server's, and nothing of it is here.
    /// - Parameter activity: What the item waits for.
    /// - Returns: The item.
    public func insertPlaceholder(
        _ path: ItemPath, kind: Item.Kind, size: Int64? = nil, mimeType: String? = nil, modified: Timestamp? = nil,
        activity: SyncActivity
    ) throws -> Item {
        try insert(
            Item(
                localID: .random(), fileID: nil, path: path, kind: kind, size: size, mimeType: mimeType,
                lastModified: modified, syncActivity: activity))
    }

    /// Writes what the server says of an item that it has made, or changed, for this account.
    /// - Parameter activity: The activity that has ended.
    /// - Returns: The item as it is now.
    /// - Throws: `.internal` if there is no such row.
    @discardableResult
    public func confirm(_ item: Item, as entry: ListedItem, ending activity: SyncActivity) throws -> Item {
        var confirmed = item
        confirmed.fileID = entry.fileID ?? item.fileID ?? .substitute(for: item.path)
        (confirmed.size, confirmed.mimeType, confirmed.etag) = (entry.size, entry.mimeType, entry.etag)
        (confirmed.lastModified, confirmed.owner) = (entry.lastModified, entry.owner)
        (confirmed.permissions, confirmed.isFavorite) = (entry.permissions, entry.isFavorite)
        confirmed.syncActivity.remove(activity)
        try forgetFormerVersion(of: item.databaseID)
        return try update(confirmed)
    }

    // MARK: Deletions

    /// Flags an item, and all below it, as removed, since a record is about to delete it on the server. Items that are
    /// only here stay.
    public func hide(_ item: Item, for record: SyncRecordID, at time: Timestamp) throws {
        let values: [SQLValue] = [.time(time), .id(record), .integer(try access.anchor)]
        var hidden: [ItemRowID] = try ids(
            """
            UPDATE items SET removedAt = ?, deletedBy = ?, anchor = ?,
              syncActivity = syncActivity | \(SyncActivity.deleting.rawValue)
            WHERE databaseID = ? AND \(ItemSQL.isOnServer) RETURNING databaseID
            """, values + [.id(item.databaseID)])
        if item.kind == .folder {
            hidden += try ids(
                """
                UPDATE items SET removedAt = ?, deletedBy = ?, anchor = ?
                WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isOnServer) RETURNING databaseID
                """, values + ItemSQL.range(below: item.path))
        }
        hidden.forEach(access.noteRemoved)
    }

    /// Brings back the items that a record was about to delete.
    /// - Returns: A path that another item has taken meanwhile, so that nothing was brought back; nil if all is back.
    public func unhide(for record: SyncRecordID) throws -> ItemPath? {
        let taken = try row(
            "SELECT path FROM items WHERE deletedBy = ? AND \(ItemSQL.hasSuccessor) ORDER BY path LIMIT 1",
            [.id(record)]
        ) { ItemPath(unchecked: $0.text(0) ?? "") }
        if let taken { return taken }
        let back: [ItemRowID] = try ids(
            """
            UPDATE items SET removedAt = NULL, deletedBy = NULL, anchor = ?,
              syncActivity = syncActivity & ~\(SyncActivity.deleting.rawValue)
            WHERE deletedBy = ? RETURNING databaseID
            """, .integer(access.anchor), .id(record))
        back.forEach(access.noteUpdated)
        return nil
    }

    /// Records that the server has deleted the items that a record was about to delete. Their copies stay until they
    /// are vacuumed.
    public func confirmHidden(for record: SyncRecordID, at time: Timestamp) throws {
        let placeholders: [ItemRowID] = try ids(
            """
            DELETE FROM items WHERE deletedBy = ? AND fileID IS NULL AND NOT (\(ItemSQL.isHere)) RETURNING databaseID
            """, .id(record))
        placeholders.forEach(access.noteRemoved)
        let gone: [ItemRowID] = try ids(
            """
            UPDATE items SET removedAt = ?, deletedBy = NULL, anchor = ?,
              syncActivity = syncActivity & ~\(SyncActivity.deleting.rawValue)
            WHERE deletedBy = ? RETURNING databaseID
            """, .time(time), .integer(access.anchor), .id(record))
        gone.forEach(access.noteRemoved)
    }

    /// Brings back an item, and all below it, that a record was about to delete with the folder above.
    public func unhide(_ id: LocalID, hiddenBy record: SyncRecordID) throws {
        guard let item = try item(localID: id) else { return }
        let back: [ItemRowID] = try ids(
            """
            UPDATE items SET removedAt = NULL, deletedBy = NULL, anchor = ?
            WHERE deletedBy = ? AND (databaseID = ? OR (\(ItemSQL.isInRange))) RETURNING databaseID
            """,
            [.integer(access.anchor), .id(record), .id(item.databaseID)] + ItemSQL.range(below: item.path))
        back.forEach(access.noteUpdated)
    }

    /// Leaves the item at a path removed that a record was about to delete, since another one has taken its place.
    public func giveUpHidden(at path: ItemPath, for record: SyncRecordID) throws {
        try ids(
            """
            UPDATE items SET deletedBy = NULL, syncActivity = syncActivity & ~\(SyncActivity.deleting.rawValue), anchor = ?
            WHERE path = ? AND deletedBy = ? RETURNING databaseID
            """, .integer(access.anchor), .path(path), .id(record)
        ).forEach(access.noteRemoved)
    }

    // MARK: Moves

    /// Moves an item, with all below it, to a path at which there is no item. Rows keep their ids, copies and last
    /// uses. The tree's move is journalled in this transaction.
    ///
    /// Where the server gives no ids, the path is the identity, so that the substitutes for the ids change too.
    /// - Returns: The item at its new path.
    /// - Throws: `.internal` if there is no such row.
    public func move(_ item: Item, to path: ItemPath) throws -> Item {
        let old = item.path
        access.noteMove(isFound: false)
        if item.kind == .folder {
            let belongs = try belongs(to: item)
            if try sharesFolder(item) {
                try access.moves.addCopies(below: old, to: path, where: belongs)
            } else {
                try access.moves.add(item.localID, from: old, to: path)
            }
            try movePaths(below: old, to: path, restoring: nil, alone: false, where: belongs)
                .forEach(access.noteUpdated)
            try run(
                """
                UPDATE items SET fileID = ? || path WHERE \(ItemSQL.isBelow) AND fileID >= ? AND fileID < ?
                """, [.text(FileID.substitutePrefix)] + ItemSQL.bounds(below: path) + FileID.substituteBounds)
        } else if try item.cloudStatus != .cloudOnly || access.journal.isLanding(item.localID) {
            try access.moves.add(item.localID, from: old, to: path)
        }
        var moved = item
        moved.path = path
        if let id = item.fileID, !id.isFromServer { moved.fileID = .substitute(for: path) }
        return try update(moved)
    }

    /// Tells whether the tree's folder at a folder's path also holds the copies of a folder that was there before, and
    /// is removed or about to be. These copies stay at the path.
    private func sharesFolder(_ folder: Item) throws -> Bool {
        let sql = """
            SELECT removedAt IS NULL
              AND EXISTS (SELECT 1 FROM items AS former WHERE former.path = items.path AND former.removedAt IS NOT NULL
                AND former.\(ItemSQL.isFolder))
            FROM items WHERE databaseID = ?
            """
        guard try integer(sql, .id(folder.databaseID)) == 1,
            // What has not come to the path yet shares nothing there.
            try !access.moves.isToCome(of: folder.localID, to: folder.path)
        else { return false }
        return try exists(
            "SELECT 1 FROM items WHERE \(ItemSQL.isBelow) AND removedAt IS NOT NULL AND \(ItemSQL.isHere)",
            ItemSQL.bounds(below: folder.path))
    }

    /// Returns the term for the rows below a folder that are in this folder: not those of a folder that was there before,
    /// and that a record is about to delete.
    private func belongs(to folder: Item) throws -> (sql: String, arguments: [SQLValue]) {
        if let deletion = try deletion(of: folder.databaseID) { return ("deletedBy = ?", [.id(deletion)]) }
        var (places, path) = ([SQLValue.path(folder.path)], folder.path)
        while !path.isRoot {
            path = path.parent
            places.append(.path(path))
        }
        let marks = places.map { _ in "?" }.joined(separator: ", ")
        return (
            "(deletedBy IS NULL OR deletedBy NOT IN (SELECT deletedBy FROM items WHERE path IN (\(marks)) AND deletedBy IS NOT NULL))",
            places
        )
    }
}

extension ItemTable {
    /// Returns the record that is about to delete an item on the server; nil if there is none.
    public func deletion(of item: ItemRowID) throws -> SyncRecordID? {
        try integer("SELECT deletedBy FROM items WHERE databaseID = ?", .id(item)).map(SyncRecordID.init)
    }

    /// Returns the number of items that the records of a requester which follow a record are about to delete.
    public func hiddenCount(after record: SyncRecordID, for reason: DownloadTrigger) throws -> Int {
        let sql = """
            SELECT count(*) FROM syncRecords JOIN items ON items.deletedBy = syncRecords.id
            WHERE syncRecords.id > ? AND reason = ?
            """
        return try row(sql, [.id(record), .text(reason.text)]) { Int($0.integer(0) ?? 0) } ?? 0
    }

    /// Returns the number of items at and below a path that are on the server or about to be made there.
    public func countOnServer(atOrBelow path: ItemPath) throws -> Int {
        func count(_ place: String, _ arguments: [SQLValue]) throws -> Int {
            let sql = "SELECT count(*) FROM items WHERE \(place) AND \(ItemSQL.isOnServer) AND path <> '/'"
            return try row(sql, arguments) { Int($0.integer(0) ?? 0) } ?? 0
        }
        return try count(ItemSQL.isInRange, ItemSQL.range(below: path)) + count("path = ?", [.path(path)])
    }

    /// Returns the number of a folder's own entries, or `most` if there are more.
    public func countEntries(of folder: ItemPath, atMost most: Int) throws -> Int {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM items WHERE parentPath = ? AND removedAt IS NULL LIMIT ?)"
        return try row(sql, [.path(folder), .integer(Int64(most))]) { Int($0.integer(0) ?? 0) } ?? 0
    }

    /// Reads a folder's own entries that a record is about to delete, one after the other.
    /// - Parameter body: A function that receives each item and returns false to end early.
    /// - Throws: What `body` throws.
    public func eachHidden(
        in folder: ItemPath, for record: SyncRecordID, _ body: (Item) throws -> Bool
    ) throws {
        try each(where: "parentPath = ? AND deletedBy = ?", [.path(folder), .id(record)], body)
    }

    /// Returns the paths of the first few items at or below a path that are only here, or were changed here.
    public func changedHere(below folder: ItemPath, limit: Int) throws -> [ItemPath] {
        try rows(
            "SELECT path FROM items WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isChanged) ORDER BY path LIMIT ?",
            ItemSQL.range(below: folder) + [.integer(Int64(limit))]
        ) { ItemPath(unchecked: $0.text(0) ?? "") }
    }
}

extension FileID {
    static let substitutePrefix = "path:"
    /// The bounds of all substitutes. The upper bound ends with the character after the colon.
    fileprivate static let substituteBounds: [SQLValue] = [.text("path:"), .text("path;")]
}

import GRDB
public import Model

extension DatabaseReads {
    /// The item that is gone from the server and whose copy lies at a path still.
    public func removedCopy(at path: ItemPath) throws -> Item? {
        var found: Item?
        try eachItem(
            where: "items.path = ? AND items.removedAt IS NOT NULL AND items.cloudStatus = 1", [.text(path.text)]
        ) { item in
            found = item
            return false
        }
        return found
    }

    /// The items below a folder that are gone from the server and whose copies are here still.
    public func removedCopies(below folder: ItemPath) throws -> [Item] {
        var found: [Item] = []
        let prefix = folder.prefixOfItemsBelow
        try eachItem(
            where: """
                (items.parentPath = ? OR (items.parentPath >= ? AND items.parentPath < ?))
                AND items.removedAt IS NOT NULL AND items.cloudStatus = 1
                """, [.text(folder.text), .text(prefix), .text(String(prefix.dropLast()) + "0")]
        ) { item in
            found.append(item)
            return true
        }
        return found
    }
}

extension Transaction {
    /// An item's copy is no longer here.
    public func dropCopy(of item: Item) throws {
        guard var item = try self.item(databaseID: item.databaseID) else { return }
        item.cloudStatus = .cloudOnly
        (item.copy, item.downloadTrigger, item.formerTrigger) = (nil, nil, nil)
        try updateLocal(item)
    }

    /// The file at the row's path counts for another row from now on. A row for what is here alone ends.
    public func forgetLocalFile(of row: ScanRow) throws {
        if row.fileID == nil {
            try db.cachedStatement(sql: "DELETE FROM items WHERE databaseID = ?").execute(arguments: [row.databaseID])
        } else {
            try db.cachedStatement(
                sql: """
                    UPDATE items SET cloudStatus = 0, copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL,
                      copyInode = NULL, copySize = NULL, copyModified = NULL, copyChanged = NULL, copyRecorded = NULL,
                      downloadTrigger = NULL, formerTrigger = NULL, anchor = ?
                    WHERE databaseID = ?
                    """
            ).execute(arguments: [anchor, row.databaseID])
        }
        noteUpdated(row.databaseID)
    }

    /// At the item's path lies a file of a person's that the server is not known to have.
    public func meetUnknownFile(at localID: LocalID) throws {
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET cloudStatus = 2, copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL, anchor = ?
                    WHERE localID = ? RETURNING databaseID
                    """), arguments: [anchor, localID.text])
        ids.forEach(noteUpdated)
    }
}

import GRDB
public import Model

/// Copies that lie where another item's is to be, and that are not to go for it.
public enum PlaceObstacle: Hashable, Sendable {
    /// Of an item of which nobody has decided yet whether it is gone.
    case undecided
    /// Of items that are gone; they go in vacuum's time.
    case removed(ItemPath)
}

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

    /// Whether the copy of any removed item is here.
    public func hasRemovedCopies() throws -> Bool {
        let sql =
            "SELECT EXISTS (SELECT 1 FROM items INDEXED BY items_removed WHERE removedAt IS NOT NULL AND cloudStatus = 1)"
        return try Bool.fetchOne(db.cachedStatement(sql: sql)) ?? false
    }

    /// The copies of removed items that are in the way of an item: at its path, a file above it, or, for a file, what lies below.
    ///
    /// One that is gone for certain is not in the way of a file where a file was; nor is anything that a person has to take away first.
    public func obstacle(at path: ItemPath, for kind: Item.Kind) throws -> PlaceObstacle? {
        var obstacle: PlaceObstacle?
        func meet(_ found: (path: ItemPath, isUndecided: Bool)) {
            if found.isUndecided {
                obstacle = .undecided
            } else if obstacle == nil {
                obstacle = .removed(found.path)
            }
        }
        try eachRemovedCopy("path = ?", [.text(path.text)]) { found, foundKind, isUndecided in
            let isReplaceable = foundKind == kind && (kind == .folder || !isUndecided)
            if !isReplaceable { meet((found, isUndecided)) }
        }
        var folder = path
        while !folder.isRoot {
            folder = folder.parent
            try eachRemovedCopy("path = ? AND type = 0", [.text(folder.text)]) { meet(($0, $2)) }
        }
        guard kind == .file else { return obstacle }
        let prefix = path.prefixOfItemsBelow
        let below = "(parentPath = ? OR (parentPath >= ? AND parentPath < ?))"
        let bounds: [SQLValue] = [.text(path.text), .text(prefix), .text(String(prefix.dropLast()) + "0")]
        try eachRemovedCopy(below, bounds) { found, _, isUndecided in meet((found, isUndecided)) }
        guard case .removed = obstacle else { return obstacle }
        let changed = try RawStatement(db, "SELECT 1 FROM items WHERE \(below) AND cloudStatus IN (2, 3) LIMIT 1")
        defer { changed.reset() }
        changed.bind(bounds)
        return try changed.step() ? nil : obstacle
    }

    private func eachRemovedCopy(
        _ term: String, _ arguments: [SQLValue], _ body: (ItemPath, Item.Kind, _ isUndecided: Bool) -> Void
    ) throws {
        let statement = try RawStatement(
            db,
            """
            SELECT path, type, EXISTS (SELECT 1 FROM missingItems WHERE missingItems.databaseID = items.databaseID)
            FROM items WHERE \(term) AND removedAt IS NOT NULL AND cloudStatus = 1
            """)
        defer { statement.reset() }
        statement.bind(arguments)
        while try statement.step() {
            body(
                ItemPath(unchecked: statement.text(0) ?? ""), statement.integer(1) == 1 ? .folder : .file,
                statement.integer(2) == 1)
        }
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

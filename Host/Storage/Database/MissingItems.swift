import GRDB
public import Model

/// Items that were missing in the listing of their folder, between that listing and the decision at the end of the scan.
extension DatabaseReads {
    public func hasMissing() throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM missingItems)")) ?? false
    }

    public func isMissing(_ databaseID: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM missingItems WHERE databaseID = ?)"),
            arguments: [databaseID]) ?? false
    }

    /// How many items are missing, with all below the folders among them.
    public func missingCount() throws -> Int {
        var count =
            try Int.fetchOne(
                db.cachedStatement(
                    sql: "SELECT count(*) FROM missingItems JOIN items USING (databaseID) WHERE removedAt IS NULL"))
            ?? 0
        for folder in try missingFolders(in: nil) {
            count +=
                try Int.fetchOne(
                    db.cachedStatement(
                        sql: """
                            SELECT count(*) FROM items
                            WHERE path >= ? AND path < ? AND removedAt IS NULL AND fileID IS NOT NULL
                            """), arguments: Self.range(below: folder)) ?? 0
        }
        return count
    }

    /// The paths of the first few that are missing.
    public func firstMissing(_ limit: Int) throws -> [ItemPath] {
        try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT path FROM missingItems JOIN items USING (databaseID) WHERE removedAt IS NULL
                    ORDER BY path LIMIT ?
                    """), arguments: [limit]
        ).map(ItemPath.init(unchecked:))
    }

    /// How many items the server is known to have, without the root.
    public func knownCount() throws -> Int {
        let sql = "SELECT count(*) FROM items WHERE removedAt IS NULL AND fileID IS NOT NULL AND path <> '/'"
        return try Int.fetchOne(db.cachedStatement(sql: sql)) ?? 0
    }

    fileprivate func missingFolders(in parent: ItemPath?) throws -> [ItemPath] {
        try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT path FROM missingItems JOIN items USING (databaseID)
                    WHERE removedAt IS NULL AND type = 1 AND (? IS NULL OR parentPath = ?)
                    """), arguments: [parent?.text, parent?.text]
        ).map(ItemPath.init(unchecked:))
    }

    /// The bounds of the texts that begin with a folder's prefix: the upper one has the slash's successor.
    static func range(below folder: ItemPath) -> StatementArguments {
        let prefix = folder.prefixOfItemsBelow
        return [prefix, String(prefix.dropLast()) + "0"]
    }
}

extension Transaction {
    /// An item was not in its folder's listing.
    /// - Returns: whether it was not missing before.
    public func noteMissing(_ databaseID: Int64) throws -> Bool {
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO missingItems (databaseID) VALUES (?)")
            .execute(arguments: [databaseID])
        return db.changesCount > 0
    }

    /// What a folder holds, according to a listing that came to its end, is not missing.
    public func noteFound(in folder: ItemPath, _ isListed: (Int64) -> Bool) throws {
        guard try hasMissing() else { return }
        let missing = try Int64.fetchAll(
            db.cachedStatement(
                sql: "SELECT databaseID FROM missingItems JOIN items USING (databaseID) WHERE parentPath = ?"),
            arguments: [folder.text])
        for id in missing where isListed(id) {
            try db.cachedStatement(sql: "DELETE FROM missingItems WHERE databaseID = ?").execute(arguments: [id])
        }
    }

    /// Flags what is missing, and all below it, as no longer on the server. Copies stay where they are.
    /// - Parameter folder: only what is missing in this folder; nil: everything.
    public func removeMissing(in folder: ItemPath? = nil, at time: Timestamp) throws {
        let folders = try missingFolders(in: folder)
        let removed = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = ?, anchor = ?
                    WHERE databaseID IN (SELECT databaseID FROM missingItems) AND removedAt IS NULL
                      AND (? IS NULL OR parentPath = ?)
                    RETURNING databaseID
                    """), arguments: [time.nanoseconds, anchor, folder?.text, folder?.text])
        removed.forEach(noteRemoved)
        for folder in folders {
            let below = try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        UPDATE items SET removedAt = ?, anchor = ?
                        WHERE path >= ? AND path < ? AND removedAt IS NULL AND fileID IS NOT NULL
                        RETURNING databaseID
                        """), arguments: [time.nanoseconds, anchor] + Self.range(below: folder))
            below.forEach(noteRemoved)
        }
        // What was moved away or displaced meanwhile is not missing either.
        try db.cachedStatement(
            sql: """
                DELETE FROM missingItems WHERE NOT EXISTS (
                  SELECT 1 FROM items WHERE items.databaseID = missingItems.databaseID AND removedAt IS NULL)
                """
        ).execute()
    }
}

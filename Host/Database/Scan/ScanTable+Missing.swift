import GRDB
public import Model

/// Items that were missing in the listing of their folder, between that listing and the decision at the end of the scan.
///
/// One that another item has displaced at its path has left the list already: its row, and each below it, is flagged as removed and
/// among the missing ones at once. The other rows below a missing folder are not.
extension DatabaseReads {
    public func hasMissing() throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM missingItems)")) ?? false
    }

    public func isMissing(_ databaseID: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM missingItems WHERE databaseID = ?)"),
            arguments: [databaseID]) ?? false
    }

    /// How many items are missing, with all below the folders among them, each once.
    public func missingCount() throws -> Int {
        var count =
            try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM missingItems JOIN items USING (databaseID)"))
            ?? 0
        let folders = try missingFolders(in: nil)
        let all = Set(folders)
        for folder in folders where !folder.isBelow(anyOf: all) {
            count +=
                try Int.fetchOne(
                    db.cachedStatement(
                        sql: """
                            SELECT count(*) FROM items
                            WHERE path >= ? AND path < ? AND removedAt IS NULL AND fileID IS NOT NULL
                              AND databaseID NOT IN (SELECT databaseID FROM missingItems)
                            """), arguments: Self.range(below: folder)) ?? 0
        }
        return count
    }

    /// The paths of the first few that are missing.
    public func firstMissing(_ limit: Int) throws -> [ItemPath] {
        try String.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT DISTINCT path FROM missingItems JOIN items USING (databaseID) ORDER BY path LIMIT ?
                    """), arguments: [limit]
        ).map(ItemPath.init(unchecked:))
    }

    /// How many items the server is known to have, without the root. A displaced one and the one in its place count once.
    public func knownCount() throws -> Int {
        let listed = "SELECT count(*) FROM items WHERE removedAt IS NULL AND fileID IS NOT NULL AND path <> '/'"
        let displaced = """
            SELECT count(DISTINCT path) FROM missingItems JOIN items USING (databaseID) WHERE removedAt IS NOT NULL
              AND NOT EXISTS (SELECT 1 FROM items AS other WHERE other.path = items.path AND other.removedAt IS NULL)
            """
        return try [listed, displaced].reduce(0) { try $0 + (Int.fetchOne(db.cachedStatement(sql: $1)) ?? 0) }
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
    /// - Returns: how many items went.
    @discardableResult
    public func removeMissing(in folder: ItemPath? = nil, at time: Timestamp) throws -> Int {
        let folders = try missingFolders(in: folder)
        var count = try removeDisplaced(in: folder, at: time)
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
            try forgetMissing(below)
            count += below.count
        }
        try forgetMissing(removed)
        return count + removed.count
    }

    /// These are not missing any more, or it is decided about them.
    func forgetMissing(_ ids: [Int64]) throws {
        for id in ids {
            try db.cachedStatement(sql: "DELETE FROM missingItems WHERE databaseID = ?").execute(arguments: [id])
        }
    }
}

extension ItemPath {
    fileprivate func isBelow(anyOf folders: Set<ItemPath>) -> Bool {
        var folder = self
        while !folder.isRoot {
            folder = folder.parent
            if folders.contains(folder) { return true }
        }
        return false
    }
}

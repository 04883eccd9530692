import GRDB
public import Model

/// Items whose path another item has now. They are out of the list and missing: the end of the scan decides about them with all
/// else that is. Until then, and longer if a person is asked, their copies are nobody's to take.
extension Transaction {
    /// Takes a row, and all below it, out of the list, since another item has its path. Nobody is told before it is decided.
    /// - Parameter isNewcomer: It displaced an item that is back in its place before anything was decided. What has nothing here goes
    ///   as it came.
    public func displaceListed(_ row: ScanRow, at time: Timestamp, isNewcomer: Bool = false) throws {
        var ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ? AND removedAt IS NULL
                      AND fileID IS NOT NULL RETURNING databaseID
                    """), arguments: [time.nanoseconds, anchor, row.databaseID])
        if row.kind == .folder {
            ids += try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        UPDATE items SET removedAt = ?, anchor = ?
                        WHERE path >= ? AND path < ? AND removedAt IS NULL AND fileID IS NOT NULL
                        RETURNING databaseID
                        """), arguments: [time.nanoseconds, anchor] + Self.range(below: row.path))
        }
        for id in ids {
            if isNewcomer, try hasNothingHere(id) {
                noteRemoved(id)
                try forgetMissing([id])
            } else {
                _ = try noteMissing(id)
            }
        }
    }

    private func hasNothingHere(_ databaseID: Int64) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT cloudStatus = 0 OR type = 1 FROM items WHERE databaseID = ?"),
            arguments: [databaseID])
            ?? true
    }

    /// Puts back into the list what a folder had below it when it was displaced, and is where it was.
    func restoreDisplaced(below folder: ItemPath, removedAt: Timestamp) throws {
        try separate(below: folder, removedAt: removedAt)
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = NULL, anchor = ?
                    WHERE \(Self.below) AND removedAt = ? AND databaseID IN (SELECT databaseID FROM missingItems)
                      AND NOT EXISTS (SELECT 1 FROM items AS other WHERE other.path = items.path AND other.removedAt IS NULL)
                    RETURNING databaseID
                    """), arguments: [anchor] + Self.bounds(below: folder) + [removedAt.nanoseconds])
        ids.forEach(noteUpdated)
        try forgetMissing(ids)
    }

    /// Rows of one path that went at one time cannot all come back: the last one that was there can.
    func separate(below folder: ItemPath, removedAt: Timestamp) throws {
        try db.cachedStatement(
            sql: """
                UPDATE items SET removedAt = removedAt - 1
                WHERE \(Self.below) AND removedAt = ? AND EXISTS (
                  SELECT 1 FROM items AS later WHERE later.path = items.path AND later.removedAt = items.removedAt
                    AND later.databaseID > items.databaseID)
                """
        ).execute(arguments: Self.bounds(below: folder) + [removedAt.nanoseconds])
    }

    /// What went together with a folder comes back with it.
    func welcomeBack(below folder: ItemPath, removedAt: Timestamp) throws {
        try separate(below: folder, removedAt: removedAt)
        try welcomeBack(
            Int64.fetchAll(
                db.cachedStatement(sql: "SELECT databaseID FROM items WHERE \(Self.below) AND removedAt = ?"),
                arguments: Self.bounds(below: folder) + [removedAt.nanoseconds]))
    }

    /// What was taken off the list is on the server: it is not missing, and had not gone.
    func welcomeBack(_ ids: [Int64]) throws {
        let gone = try ids.count { try !isMissing($0) }
        try forgetGone(gone)
        try forgetMissing(ids)
    }

    /// It is decided: what was displaced is gone from now on.
    /// - Parameter folder: only what was in this folder, and all below that; nil: everything.
    /// - Returns: how many.
    func removeDisplaced(in folder: ItemPath?, at time: Timestamp) throws -> Int {
        let ids: [Int64]
        if let folder {
            ids = try Int64.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT items.databaseID FROM items WHERE items.databaseID IN (SELECT databaseID FROM missingItems)
                          AND removedAt IS NOT NULL AND EXISTS (
                            SELECT 1 FROM missingItems JOIN items AS top USING (databaseID)
                            WHERE top.parentPath = ? AND top.removedAt = items.removedAt
                              AND (top.databaseID = items.databaseID
                                OR (top.type = 1 AND items.path > top.path || '/' AND items.path < top.path || '0')))
                        """), arguments: [folder.text])
        } else {
            ids = try Int64.fetchAll(
                db.cachedStatement(
                    sql: "SELECT databaseID FROM missingItems JOIN items USING (databaseID) WHERE removedAt IS NOT NULL"
                ))
        }
        for id in ids {
            try db.cachedStatement(sql: "UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ?")
                .execute(arguments: [time.nanoseconds, anchor, id])
            noteRemoved(id)
        }
        try forgetMissing(ids)
        return ids.count
    }
}

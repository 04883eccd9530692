import GRDB
public import Model

/// A move of the tree that was decided and is still to be carried out.
public struct TreeMove: Hashable, Sendable {
    public var id: Int64
    public var localID: LocalID
    public var from: ItemPath
    public var to: ItemPath
}

extension DatabaseReads {
    public func treeMoves() throws -> [TreeMove] {
        try Row.fetchAll(db.cachedStatement(sql: "SELECT id, localID, fromPath, toPath FROM treeMoves ORDER BY id"))
            .map {
                TreeMove(
                    id: $0[0], localID: LocalID($0[1]), from: ItemPath(unchecked: $0[2]), to: ItemPath(unchecked: $0[3])
                )
            }
    }
}

extension DatabaseReads {
    /// Whether the tree has still to follow the rows where an item is: what lies at its path may be another's, and its own copy may
    /// lie elsewhere.
    public func isMoveToCome(around path: ItemPath) throws -> Bool {
        try treeMoves().contains { move in
            [move.from, move.to].contains { $0 == path || $0.isAncestor(of: path) }
        }
    }
}

extension Transaction {
    /// The server has the item at another path now: the row keeps its id, copy and last use, and so does all below it.
    ///
    /// What is here moves with it: the tree's moves are journalled in this transaction.
    /// - Parameter placeIsTaken: another item of the server's is at the old path, so that a folder's copies move one by one.
    public func moveListed(
        _ row: ScanRow, to entry: ListedItem, fileID: FileID, racy: ScanRow.Racy, placeIsTaken: Bool
    ) throws {
        let old = row.path
        if row.removedAt != nil { try welcomeBack([row.databaseID]) }
        noteMove()
        if row.kind == .folder {
            if try placeIsTaken && !isMoveToCome(to: old) {
                try journalMovesOfCopies(below: old, to: entry.path, removedAt: row.removedAt)
            } else {
                try journalMove(of: row.localID, from: old, to: entry.path)
            }
            try movePaths(below: old, to: entry.path, restoring: row.removedAt, alone: placeIsTaken)
        } else if try row.cloudStatus != .cloudOnly || journal.isLanding(row.localID) {
            // What is landing may lie at the old path by now, or be put there in a moment.
            try journalMove(of: row.localID, from: old, to: entry.path)
        }
        try db.cachedStatement(
            sql: "UPDATE items SET path = ?, parentPath = ?, name = ?, removedAt = NULL WHERE databaseID = ?"
        ).execute(arguments: [entry.path.text, entry.path.parent.text, entry.path.name, row.databaseID])
        try db.cachedStatement(sql: "UPDATE syncRecords SET path = ? WHERE localID = ?")
            .execute(arguments: [entry.path.text, row.localID.text])
        try updateListed(row, with: entry, fileID: fileID, racy: racy)
    }

    /// Rewrites the paths of all below a folder, whatever their state: they lie where the folder goes. Those that were
    /// removed together with the folder come back with it.
    /// - Parameter alone: others below are another folder's, which has the path now.
    private func movePaths(
        below old: ItemPath, to new: ItemPath, restoring removedAt: Timestamp?, alone: Bool
    ) throws {
        // What is only here below the new path is found again in the tree.
        try db.cachedStatement(sql: "DELETE FROM items WHERE \(Self.below) AND fileID IS NULL")
            .execute(arguments: Self.bounds(below: new))
        if let removedAt { try welcomeBack(below: old, removedAt: removedAt) }
        let cut = old.prefixOfItemsBelow.utf8.count
        // substr on a blob counts bytes.
        let moved = { (column: String) in
            "CAST(CAST(? AS BLOB) || substr(CAST(\(column) AS BLOB), ?) AS TEXT)"
        }
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET path = \(moved("path")),
                      parentPath = CASE WHEN parentPath = ? THEN ? ELSE \(moved("parentPath")) END,
                      removedAt = CASE WHEN removedAt IS ? THEN NULL ELSE removedAt END, anchor = ?
                    WHERE \(Self.below) AND (NOT ? OR removedAt IS ?)
                    RETURNING databaseID
                    """),
            arguments: [
                new.prefixOfItemsBelow, cut + 1, old.text, new.text, new.prefixOfItemsBelow, cut + 1,
                removedAt?.nanoseconds, anchor,
            ] + Self.bounds(below: old) + [alone, removedAt?.nanoseconds])
        ids.forEach(noteUpdated)
        try db.cachedStatement(
            sql: "UPDATE syncRecords SET path = \(moved("path")) WHERE path >= ? AND path < ?"
        ).execute(arguments: [new.prefixOfItemsBelow, cut + 1] + Self.range(below: old))
    }

    private func journalMove(of localID: LocalID, from old: ItemPath, to new: ItemPath) throws {
        try db.cachedStatement(sql: "INSERT INTO treeMoves (localID, fromPath, toPath) VALUES (?, ?, ?)")
            .execute(arguments: [localID.text, old.text, new.text])
    }

    /// Whether what has a path now in the rows has still to move there in the tree.
    private func isMoveToCome(to path: ItemPath) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM treeMoves WHERE toPath = ?)"), arguments: [path.text])
            ?? false
    }

    private func journalMovesOfCopies(below old: ItemPath, to new: ItemPath, removedAt: Timestamp?) throws {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT localID, path FROM items
                    WHERE \(Self.below) AND type = 0 AND \(Self.hasFile) AND removedAt IS ?
                    """),
            arguments: Self.bounds(below: old) + [removedAt?.nanoseconds])
        for row in rows {
            let path = ItemPath(unchecked: row[1])
            try journalMove(of: LocalID(row[0]), from: path, to: path.moved(from: old, to: new))
        }
    }

    /// Files that are here, or are being put in place.
    private static let hasFile = """
        (cloudStatus <> 0 OR localID IN (SELECT localID FROM syncRecords WHERE landingDigest IS NOT NULL))
        """

    /// All rows below a folder, removed ones too.
    static let below = "(parentPath = ? OR (parentPath >= ? AND parentPath < ?))"
    static func bounds(below folder: ItemPath) -> StatementArguments { [folder.text] + range(below: folder) }

    /// A folder cannot move as a whole, since its target is a folder with something in it: its copies move one by one.
    /// - Returns: where it and the folders in it lay, the deepest first: those without copies are left empty.
    public func journalMovesIntoFolder(from old: ItemPath, to new: ItemPath) throws -> [ItemPath] {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT localID, path FROM items WHERE \(Self.below) AND type = 0 AND \(Self.hasFile)"),
            arguments: Self.bounds(below: new))
        for row in rows {
            let path = ItemPath(unchecked: row[1])
            try journalMove(of: LocalID(row[0]), from: path.moved(from: new, to: old), to: path)
        }
        let folders = try String.fetchAll(
            db.cachedStatement(sql: "SELECT path FROM items WHERE \(Self.below) AND type = 1 ORDER BY path DESC"),
            arguments: Self.bounds(below: new))
        return folders.map { ItemPath(unchecked: $0).moved(from: new, to: old) } + [old]
    }

    public func removeTreeMove(_ id: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM treeMoves WHERE id = ?").execute(arguments: [id])
    }
}

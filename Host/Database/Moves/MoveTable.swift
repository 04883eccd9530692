public import Model

/// A move of the tree that was decided and is still to be carried out.
public struct TreeMove: Hashable, Sendable {
    public var id: TreeMoveID
    public var localID: LocalID
    public var from: ItemPath
    public var to: ItemPath
}

/// Moves of the tree that transactions decided and that are still to be carried out.
public struct MoveTable<Access: DatabaseReads>: Table {
    let access: Access

    /// All, in the order in which they were decided.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func all() throws -> [TreeMove] {
        try rows("SELECT id, localID, fromPath, toPath FROM treeMoves ORDER BY id") {
            TreeMove(
                id: $0.id(0), localID: LocalID($0.text(1) ?? ""), from: ItemPath(unchecked: $0.text(2) ?? ""),
                to: ItemPath(unchecked: $0.text(3) ?? ""))
        }
    }

    /// Whether there is none.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public var isEmpty: Bool { get throws { try !exists("SELECT 1 FROM treeMoves") } }

    /// Whether the tree has still to follow the rows where an item is: what lies at its path may be another's, and its own copy may
    /// lie elsewhere.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func isToCome(around path: ItemPath) throws -> Bool {
        try all().contains { move in
            [move.from, move.to].contains { $0 == path || $0.isAncestor(of: path) }
        }
    }

    /// Whether what has a path now in the rows has still to move there in the tree.
    func isToCome(to path: ItemPath) throws -> Bool {
        try exists("SELECT 1 FROM treeMoves WHERE toPath = ?", .path(path))
    }
}

extension MoveTable where Access == Transaction {
    /// Takes a move away that was carried out. One that is not there is fine.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func remove(_ id: TreeMoveID) throws { try run("DELETE FROM treeMoves WHERE id = ?", .id(id)) }

    func add(_ localID: LocalID, from old: ItemPath, to new: ItemPath) throws {
        try run(
            "INSERT INTO treeMoves (localID, fromPath, toPath) VALUES (?, ?, ?)", .text(localID.text), .path(old),
            .path(new))
    }

    /// Adds a move for each copy below a folder that another item has taken the place of.
    /// - Parameter removedAt: When the folder's items left the list; nil: they did not.
    func addCopies(below old: ItemPath, to new: ItemPath, removedAt: Timestamp?) throws {
        for copy in try copies("removedAt IS ?", below: old, [.time(removedAt)]) {
            try add(copy.localID, from: copy.path, to: copy.path.moved(from: old, to: new))
        }
    }

    /// A folder cannot move as a whole, since its target is a folder with something in it: its copies move one by one.
    /// - Returns: where it and the folders in it lay, the deepest first: those without copies are left empty.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func addIntoFolder(from old: ItemPath, to new: ItemPath) throws -> [ItemPath] {
        for copy in try copies("TRUE", below: new) {
            try add(copy.localID, from: copy.path.moved(from: new, to: old), to: copy.path)
        }
        let folders = try rows(
            "SELECT path FROM items WHERE \(ItemSQL.isBelow) AND \(ItemSQL.isFolder) ORDER BY path DESC",
            ItemSQL.bounds(below: new)
        ) { ItemPath(unchecked: $0.text(0) ?? "") }
        return folders.map { $0.moved(from: new, to: old) } + [old]
    }

    /// Files below a folder that are here, or are being put in place.
    private func copies(
        _ term: String, below folder: ItemPath, _ arguments: [SQLValue] = []
    ) throws -> [(localID: LocalID, path: ItemPath)] {
        try rows(
            """
            SELECT localID, path FROM items
            WHERE \(ItemSQL.isBelow) AND \(ItemSQL.isFile) AND (\(ItemSQL.isHere)
              OR localID IN (SELECT localID FROM syncRecords WHERE landingDigest IS NOT NULL)) AND \(term)
            """, ItemSQL.bounds(below: folder) + arguments
        ) { (LocalID($0.text(0) ?? ""), ItemPath(unchecked: $0.text(1) ?? "")) }
    }
}

extension DatabaseReads {
    /// Moves of the tree that are still to be carried out.
    public var moves: MoveTable<Self> { MoveTable(access: self) }
}

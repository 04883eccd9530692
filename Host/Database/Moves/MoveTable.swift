public import Model

/// A move in the tree that was decided and is still to be carried out.
public struct TreeMove: Hashable, Sendable {
    /// The move's id. Ids rise in the order in which the moves were decided.
    public var id: TreeMoveID
    /// The item whose file or folder moves.
    public var localID: LocalID
    /// The path before the move.
    public var from: ItemPath
    /// The path after the move.
    public var to: ItemPath
}

/// The moves in the tree that transactions decided and that are still to be carried out.
public struct MoveTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns all moves, in the order in which they were decided.
    public func all() throws -> [TreeMove] {
        try rows("SELECT id, localID, fromPath, toPath FROM treeMoves ORDER BY id") {
            TreeMove(
                id: $0.id(0), localID: LocalID($0.text(1) ?? ""), from: ItemPath(unchecked: $0.text(2) ?? ""),
                to: ItemPath(unchecked: $0.text(3) ?? ""))
        }
    }

    /// Whether there are no moves.
    public var isEmpty: Bool { get throws { try !exists("SELECT 1 FROM treeMoves") } }

    /// Tells whether a move from or to a path, or a folder above the path, is still to be carried out. What lies at the
    /// path may then belong to another item, and the item's own copy may lie elsewhere.
    public func isToCome(around path: ItemPath) throws -> Bool {
        try all().contains { move in
            [move.from, move.to].contains { $0 == path || $0.isAncestor(of: path) }
        }
    }

    /// Tells whether the copy of an item that is gone from the server is still to be moved, or its place still to be
    /// left by another copy. A move of another item to its place does not count: that one waits until the copy is gone.
    public func isToCome(ofRemoved item: Item) throws -> Bool {
        try all().contains { move in
            if move.from == item.path || move.from.isAncestor(of: item.path) { return true }
            if move.to == item.path { return move.localID == item.localID }
            // A folder takes along what is in it. A file has nothing below it.
            guard move.to.isAncestor(of: item.path) else { return false }
            return try access.items.item(localID: move.localID)?.kind == .folder
        }
    }

    /// Tells whether moves are still to come without which a file must not be put in place at its item's path: of the
    /// item's own older copy, of what lies in the file's place, or of a folder above.
    public func isToCome(beforeFileOf item: Item) throws -> Bool {
        try all().contains { move in
            move.localID == item.localID || item.path.isAncestor(of: move.from)
                || [move.from, move.to].contains { $0 == item.path || $0.isAncestor(of: item.path) }
        }
    }

    /// Tells whether a move of an item to a path is still to be carried out.
    func isToCome(of item: LocalID, to path: ItemPath) throws -> Bool {
        try exists("SELECT 1 FROM treeMoves WHERE localID = ? AND toPath = ?", [.text(item.text), .path(path)])
    }

    /// Tells whether the item that the rows have at a path is still to be moved there in the tree.
    public func isToCome(to path: ItemPath) throws -> Bool {
        try exists("SELECT 1 FROM treeMoves WHERE toPath = ?", .path(path))
    }
}

extension MoveTable where Access == Transaction {
    /// Removes a move that was carried out. It is no error if there is no such move.
    public func remove(_ id: TreeMoveID) throws { try run("DELETE FROM treeMoves WHERE id = ?", .id(id)) }

    /// Sets the path from which a move is made.
    package func setStart(of id: TreeMoveID, to path: ItemPath) throws {
        try run("UPDATE treeMoves SET fromPath = ? WHERE id = ?", .path(path), .id(id))
    }

    func add(_ localID: LocalID, from old: ItemPath, to new: ItemPath) throws {
        try run(
            "INSERT INTO treeMoves (localID, fromPath, toPath) VALUES (?, ?, ?)", .text(localID.text), .path(old),
            .path(new))
    }

    /// Adds a move for each copy below a folder whose path another item has taken.
    /// - Parameter removedAt: The time at which the folder's items were removed from the item list; nil if they were
    ///   not.
    func addCopies(below old: ItemPath, to new: ItemPath, removedAt: Timestamp?) throws {
        try addCopies(below: old, to: new, where: ("removedAt IS ?", [.time(removedAt)]))
    }

    /// Adds a move for each copy below a folder for which a term holds.
    func addCopies(
        below old: ItemPath, to new: ItemPath, where term: (sql: String, arguments: [SQLValue])
    ) throws {
        for copy in try copies(term.sql, below: old, term.arguments) {
            try add(copy.localID, from: copy.path, to: copy.path.moved(from: old, to: new))
        }
    }

    /// Adds a move for each copy in a folder that cannot move as a whole, since its target is a folder that is not
    /// empty.
    /// - Returns: The former paths of the folder and of the folders in it, the deepest first. Those without copies are
    ///   left empty.
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

    /// Returns the files below a folder that are here, or are being put in place.
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
    /// The moves in the tree that are still to be carried out.
    public var moves: MoveTable<Self> { MoveTable(access: self) }
}

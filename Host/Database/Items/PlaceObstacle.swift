public import Model

/// Copies that lie where another item's is to be, and that are not to go for it.
public enum PlaceObstacle: Hashable, Sendable {
    /// Of an item of which nobody has decided yet whether it is gone.
    case undecided
    /// Of items that are gone; they go in vacuum's time.
    case removed(ItemPath)
}

extension ItemTable {
    /// The item that is gone from the server and whose copy lies at a path still.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func removedCopy(at path: ItemPath) throws -> Item? {
        try row(ItemQuery.removedCopyAtPath, [.path(path)], Item.init)
    }

    /// Whether the copy of any removed item is here.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func hasRemovedCopies() throws -> Bool {
        try exists("SELECT 1 FROM items INDEXED BY items_removed WHERE removedAt IS NOT NULL AND \(ItemSQL.isCopy)")
    }

    /// The copies of removed items that are in the way of an item: at its path, a file above it, or, for a file, what lies below.
    ///
    /// One that is gone for certain is not in the way of a file where a file was; nor is anything that a person has to take away first.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func obstacle(at path: ItemPath, for kind: Item.Kind) throws -> PlaceObstacle? {
        var obstacle: PlaceObstacle?
        func meet(_ found: (path: ItemPath, isUndecided: Bool)) {
            if found.isUndecided {
                obstacle = .undecided
            } else if obstacle == nil {
                obstacle = .removed(found.path)
            }
        }
        try eachRemovedCopy("path = ?", [.path(path)]) { found, foundKind, isUndecided in
            let isReplaceable = foundKind == kind && (kind == .folder || !isUndecided)
            if !isReplaceable { meet((found, isUndecided)) }
        }
        var folder = path
        while !folder.isRoot {
            folder = folder.parent
            try eachRemovedCopy("path = ? AND \(ItemSQL.isFile)", [.path(folder)]) { meet(($0, $2)) }
        }
        guard kind == .file else { return obstacle }
        let bounds = ItemSQL.bounds(below: path)
        try eachRemovedCopy(ItemSQL.isBelow, bounds) { found, _, isUndecided in meet((found, isUndecided)) }
        guard case .removed = obstacle,
            try exists("SELECT 1 FROM items WHERE \(ItemSQL.isBelow) AND \(ItemSQL.isChanged)", bounds)
        else { return obstacle }
        return nil
    }

    private func eachRemovedCopy(
        _ term: String, _ arguments: [SQLValue], _ body: (ItemPath, Item.Kind, _ isUndecided: Bool) -> Void
    ) throws {
        let statement = try RawStatement(
            db,
            """
            SELECT path, type, \(ItemSQL.isMissing) FROM items
            WHERE \(term) AND removedAt IS NOT NULL AND \(ItemSQL.isCopy)
            """)
        defer { statement.reset() }
        statement.bind(arguments)
        while try statement.step() {
            body(
                ItemPath(unchecked: statement.text(0) ?? ""), statement.kind(1),
                statement.integer(2) == 1)
        }
    }
}

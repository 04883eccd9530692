public import Model

/// Copies that lie where another item's copy is to be placed, and that must not be removed for it.
public enum PlaceObstacle: Hashable, Sendable {
    /// A copy of an item whose removal is not yet decided, or which the server has still to delete.
    case undecided
    /// Copies of removed items, which vacuum removes in its time. The value is the path of one of them.
    case removed(ItemPath)
}

extension ItemTable {
    /// Returns the item that is removed from the server and whose copy still lies at a path. An item that the server has
    /// still to delete does not count.
    public func removedCopy(at path: ItemPath) throws -> Item? {
        try row(ItemQuery.removedCopyAtPath, [.path(path)], Item.init)
    }

    /// Tells whether the copy of any removed item is here.
    public func hasRemovedCopies() throws -> Bool {
        try exists("SELECT 1 FROM items INDEXED BY items_removed WHERE removedAt IS NOT NULL AND \(ItemSQL.isCopy)")
    }

    /// Tells whether the copy of a removed item is at a path, above it or below it.
    public func isBesideRemovedCopy(_ path: ItemPath) throws -> Bool {
        var isBeside = false
        var place = path
        while !place.isRoot, !isBeside {
            try eachRemovedCopy("path = ?", [.path(place)]) { _, _, _ in isBeside = true }
            place = place.parent
        }
        if !isBeside {
            try eachRemovedCopy(ItemSQL.isBelow, ItemSQL.bounds(below: path)) { _, _, _ in isBeside = true }
        }
        return isBeside
    }

    /// Returns the obstacle that copies of removed items form for an item: a copy at its path, a file above the path,
    /// or, for a file, anything below the path.
    ///
    /// A file at the path whose removal is decided is no obstacle for a file, and a folder at the path is no obstacle
    /// for a folder. The result is also nil if files were changed or made below the path of a file, since a person has
    /// to remove these first; an undecided removal is still an obstacle then.
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

    /// Returns the folders at and below a path that are removed from the server and still here, the deepest first.
    /// - Returns: The folders; nil if a file's copy is among what is removed there, or a removal that is not decided.
    public func onlyRemovedFolders(at path: ItemPath) throws -> [ItemPath]? {
        var (folders, isMore) = ([ItemPath](), false)
        try eachRemovedCopy("(path = ? OR \(ItemSQL.isBelow))", [.path(path)] + ItemSQL.bounds(below: path)) {
            if $1 == .folder, !$2 { folders.append($0) } else { isMore = true }
        }
        return isMore ? nil : folders.sorted { $0.text.utf8.count > $1.text.utf8.count }
    }

    /// Returns the removed folders that are still here, and whose id of the server's another folder has: the server has
    /// them where there was a folder here already. The cost grows with the number of removed items.
    /// - Returns: The folders, the deepest first.
    public func foldersMetElsewhere() throws -> [Item] {
        try rows(ItemQuery.foldersMetElsewhere, [], Item.init)
    }

    private func eachRemovedCopy(
        _ term: String, _ arguments: [SQLValue], _ body: (ItemPath, Item.Kind, _ isUndecided: Bool) -> Void
    ) throws {
        let statement = try RawStatement(
            db,
            """
            SELECT path, type, deletedBy IS NOT NULL OR \(ItemSQL.isMissing) FROM items
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

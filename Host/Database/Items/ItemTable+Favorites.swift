public import Model

/// The marks of favorites.
extension ItemTable {
    /// Returns the paths of the items on the server that are marked as favorites.
    public func favorites() throws -> Set<ItemPath> {
        Set(
            try rows("SELECT path FROM items WHERE favorite = 1 AND \(ItemSQL.isListed)") {
                ItemPath(unchecked: $0.text(0) ?? "")
            })
    }
}

extension ItemTable where Access == Transaction {
    /// Writes the mark that the server has for the item at a path.
    /// - Returns: Whether there is such an item, and its mark was another.
    public func setFavorite(_ isFavorite: Bool, at path: ItemPath) throws -> Bool {
        let changed: [ItemRowID] = try ids(
            """
            UPDATE items SET favorite = ?1, anchor = ?2
            WHERE path = ?3 AND \(ItemSQL.isListed) AND favorite <> ?1 RETURNING databaseID
            """, .flag(isFavorite), .integer(access.anchor), .path(path))
        changed.forEach(access.noteUpdated)
        return !changed.isEmpty
    }
}

public import Model

/// The writes that concern the use of files: `lastUsed`.
extension ItemTable where Access == Transaction {
    /// Records the time of use of the file at a path, and of all files below the path that are here. A later time that
    /// is already recorded stays.
    /// - Returns: The number of files whose time changed.
    @discardableResult
    public func noteUse(at path: ItemPath, _ time: Timestamp) throws -> Int {
        let used: [ItemRowID] = try ids(
            """
            UPDATE items SET lastUsed = ?1, anchor = ?2
            WHERE \(ItemSQL.isFile) AND (lastUsed IS NULL OR lastUsed < ?1)
              AND ((path = ?3 AND removedAt IS NULL)
                OR (path >= ?4 AND path < ?5 AND \(ItemSQL.isHere)))
            RETURNING databaseID
            """, [.time(time), .integer(access.anchor), .path(path)] + ItemSQL.range(below: path))
        used.forEach(access.noteUpdated)
        return used.count
    }

    /// Records the time of use of a copy. A later time that is already recorded stays.
    package func noteUse(databaseID: ItemRowID, _ time: Timestamp) throws {
        try noteUse("databaseID = ?3", .id(databaseID), time)
    }

    /// Records the times at which programs used copies. Paths at which there is no copy any more are left out.
    public func noteUses(_ uses: some Sequence<(key: ItemPath, value: Timestamp)>) throws {
        for (path, time) in uses { try noteUse("path = ?3", .path(path), time) }
    }

    private func noteUse(_ term: String, _ argument: SQLValue, _ time: Timestamp) throws {
        try ids(
            """
            UPDATE items SET lastUsed = ?1, anchor = ?2
            WHERE \(ItemSQL.isFile) AND \(ItemSQL.isHere)
              AND (lastUsed IS NULL OR lastUsed < ?1) AND \(term)
            RETURNING databaseID
            """, .time(time), .integer(access.anchor), argument
        ).forEach(access.noteUpdated)
    }
}

public import Model

/// What a transaction writes of the use of files: `lastUsed`.
extension ItemTable where Access == Transaction {
    /// Marks files as used at a time, unless they were used later: the one at a path, and all below it that are here.
    /// - Returns: how many.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
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

    /// Marks a copy as used at a time, unless it was used later.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func noteUse(databaseID: ItemRowID, _ time: Timestamp) throws {
        try noteUse("databaseID = ?3", .id(databaseID), time)
    }

    /// Marks the copies that programs have used. Those that have gone elsewhere meanwhile are left out.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
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

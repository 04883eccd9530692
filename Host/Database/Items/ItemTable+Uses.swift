import GRDB
public import Model

extension Transaction {
    /// Marks files as used at a time, unless they were used later: the one at a path, and all below it that are here.
    /// - Returns: how many.
    @discardableResult
    public func noteUse(at path: ItemPath, _ time: Timestamp) throws -> Int {
        let statement = try RawStatement(
            db,
            """
            UPDATE items SET lastUsed = ?1, anchor = ?2
            WHERE type = 0 AND (lastUsed IS NULL OR lastUsed < ?1)
              AND ((path = ?3 AND removedAt IS NULL) OR (path >= ?4 AND path < ?5 AND cloudStatus <> 0))
            RETURNING databaseID
            """)
        defer { statement.reset() }
        let below = path.prefixOfItemsBelow
        statement.bind([
            .integer(time.nanoseconds), .integer(try anchor), .text(path.text), .text(below),
            // `0` is the character after `/`.
            .text(String(below.dropLast()) + "0"),
        ])
        var count = 0
        while try statement.step() {
            noteUpdated(statement.integer(0) ?? 0)
            count += 1
        }
        return count
    }

    /// Marks a copy as used at a time, unless it was used later.
    package func noteUse(databaseID: Int64, _ time: Timestamp) throws {
        try noteUse("databaseID = ?3", .integer(databaseID), time)
    }

    /// Marks the copies that programs have used. Those that have gone elsewhere meanwhile are left out.
    public func noteUses(_ uses: some Sequence<(key: ItemPath, value: Timestamp)>) throws {
        for (path, time) in uses { try noteUse("path = ?3", .text(path.text), time) }
    }

    private func noteUse(_ term: String, _ argument: SQLValue, _ time: Timestamp) throws {
        let statement = try RawStatement(
            db,
            """
            UPDATE items SET lastUsed = ?1, anchor = ?2
            WHERE type = 0 AND cloudStatus <> 0 AND (lastUsed IS NULL OR lastUsed < ?1) AND \(term)
            RETURNING databaseID
            """)
        defer { statement.reset() }
        statement.bind([.integer(time.nanoseconds), .integer(try anchor), argument])
        while try statement.step() { noteUpdated(statement.integer(0) ?? 0) }
    }
}

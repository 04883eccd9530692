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
}

public import Model

/// An item with what its row says of its coming.
public struct ChangedItem: Sendable {
    /// The item. Its `anchor` is that of its last change.
    public var item: Item
    /// The anchor with which the item was added, or came back; 0 if that was before it was recorded.
    public var came: Int64
}

extension ItemTable {
    /// Reads the items that were added or changed after an anchor, in the order of their last changes. Items whose rows
    /// were deleted have tombstones instead. The cost grows with the number of these items.
    /// - Parameter body: A function that receives each item and returns false to end early.
    /// - Throws: What `body` throws.
    public func changed(after anchor: Int64, _ body: (ChangedItem) throws -> Bool) throws {
        let statement = try RawStatement(db, Self.changedAfter, isCached: false)
        defer { statement.reset() }
        statement.bind(1, anchor)
        while try statement.step() {
            guard try body(ChangedItem(statement)) else { return }
        }
    }

    /// Returns the number of items that were added or changed after an anchor, or a limit if there are more.
    public func changedCount(after anchor: Int64, limit: Int) throws -> Int {
        let count = try integer(
            "SELECT count(*) FROM (SELECT 1 FROM items INDEXED BY items_anchor WHERE anchor > ? LIMIT ?)",
            .integer(anchor), .integer(Int64(limit)))
        return Int(count ?? 0)
    }

    private static var changedAfter: String {
        """
        SELECT \(ItemColumns.wholeItem), items.came FROM items INDEXED BY items_anchor
        WHERE anchor > ? ORDER BY anchor, databaseID
        """
    }
}

extension ChangedItem {
    init(_ row: RawStatement) {
        self.init(item: Item(row), came: row.integer(Int32(ItemColumn.allCases.count)) ?? 0)
    }
}

public import Model

/// An item with what its row says of its coming.
public struct ChangedItem: Sendable {
    /// The item. Its `anchor` is that of its last change.
    public var item: Item
    /// The anchor with which the item was added, or came back; 0 if that was before it was recorded.
    public var came: Int64
}

/// A place in the order of rows by an anchor.
public struct RowAnchor: Hashable, Sendable {
    /// The anchor.
    public var anchor: Int64
    /// The row; the highest possible one stands for all rows of the anchor.
    public var row: ItemRowID

    /// Creates a place behind all rows of an anchor.
    public init(behind anchor: Int64) { self.init(anchor: anchor, row: ItemRowID(.max)) }

    /// Creates the place of a row.
    public init(anchor: Int64, row: ItemRowID) {
        self.anchor = anchor
        self.row = row
    }
}

extension ItemTable {
    /// Returns the items that were added, or came back, behind a place, in the order of their coming. The cost grows with
    /// the limit.
    public func came(behind place: RowAnchor, limit: Int) throws -> [ChangedItem] {
        try rows(
            """
            SELECT \(ItemColumns.wholeItem), items.came FROM items INDEXED BY items_came
            WHERE came >= ?1 AND (came, databaseID) > (?1, ?2) ORDER BY came, databaseID LIMIT ?3
            """, [.integer(place.anchor), .id(place.row), .integer(Int64(limit))], ChangedItem.init)
    }

    /// Returns the items that were added or changed behind a place, in the order of their last changes. The cost grows
    /// with the limit.
    public func changed(behind place: RowAnchor, limit: Int) throws -> [ChangedItem] {
        try rows(
            """
            SELECT \(ItemColumns.wholeItem), items.came FROM items INDEXED BY items_anchor
            WHERE (anchor, databaseID) > (?, ?) ORDER BY anchor, databaseID LIMIT ?
            """, [.integer(place.anchor), .id(place.row), .integer(Int64(limit))], ChangedItem.init)
    }

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

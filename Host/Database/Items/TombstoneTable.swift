public import Model

/// What is kept of a deleted row.
public struct Tombstone: Hashable, Sendable {
    /// The number of the tombstone, which rises with the anchor.
    public var number: Int64
    /// The number that the row had.
    public var databaseID: ItemRowID
    /// The item's id.
    public var localID: LocalID
    /// The item's last path.
    public var path: ItemPath
    /// Whether the item was a file or a folder.
    public var kind: Item.Kind
    /// The number of the transaction that deleted the row.
    public var anchor: Int64
}

/// The tombstones of deleted rows, and the course of anchors that they belong to.
public struct TombstoneTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns the position of this state of the database.
    public func position() throws -> ChangePosition {
        ChangePosition(epoch: try access.meta.integer(.epoch) ?? 0, anchor: try access.meta.integer(.anchor) ?? 0)
    }

    /// Tells whether all changes after a position are known: the position is of this course, and no later tombstone has
    /// been dropped.
    public func isComplete(after position: ChangePosition) throws -> Bool {
        let now = try self.position()
        return try position.epoch == now.epoch && position.anchor <= now.anchor && position.anchor >= floor()
    }

    /// Returns the lowest anchor after which all deletions, and all changes of other things than items, are known.
    public func floor() throws -> Int64 { try access.meta.integer(.tombstoneFloor) ?? 0 }

    /// Returns the tombstone of a row; nil if the row is there, or its tombstone was dropped.
    public func of(_ row: ItemRowID) throws -> Tombstone? {
        try self.row(
            "SELECT databaseID, localID, path, type, anchor, number FROM tombstones WHERE databaseID = ?", [.id(row)],
            Tombstone.init)
    }

    /// Returns the tombstones of the rows that were deleted after an anchor, in the order of the deletions.
    /// - Parameter limit: The largest number of tombstones.
    public func after(_ anchor: Int64, limit: Int = .max) throws -> [Tombstone] {
        try rows(
            """
            SELECT databaseID, localID, path, type, anchor, number FROM tombstones
            WHERE anchor > ? ORDER BY anchor, number LIMIT ?
            """, [.integer(anchor), .integer(Int64(limit))], Tombstone.init)
    }

    /// Returns the tombstones behind a place, in their order. The cost grows with the limit.
    /// - Parameters:
    ///   - anchor: The place's anchor.
    ///   - number: The number of the tombstone at the place.
    ///   - limit: The largest number of tombstones.
    public func behind(_ anchor: Int64, number: Int64, limit: Int) throws -> [Tombstone] {
        try rows(
            """
            SELECT databaseID, localID, path, type, anchor, number FROM tombstones
            WHERE (anchor, number) > (?, ?) ORDER BY anchor, number LIMIT ?
            """, [.integer(anchor), .integer(number), .integer(Int64(limit))], Tombstone.init)
    }
}

extension TombstoneTable where Access == Transaction {
    /// The longest time for which tombstones are kept.
    public static var longest: Duration { .seconds(30 * 86_400) }
    /// The largest number of tombstones that are kept.
    public static var most: Int { 100_000 }

    /// Drops the tombstones, and the rows of ``ChangeTable``, beyond the largest number, and those that are older than the
    /// longest time. Their time is told by marks, of which one is made a day at most: so one may be kept for a day longer.
    /// - Parameter now: The time, by a clock that may have been set. A wrong time drops tombstones early, and never makes
    ///   a position complete that is not.
    public func prune(now: Timestamp, most: Int = most) throws {
        var marks = AnchorMark.marks(try access.meta.text(.anchorMarks) ?? "")
        let before = marks
        // The clock may have been set back.
        marks.removeAll { $0.time > now }
        if marks.last.map({ $0.time + .seconds(86_400) <= now }) ?? true {
            marks.append(AnchorMark(time: now, anchor: try access.meta.integer(.anchor) ?? 0))
        }
        let old = marks.filter { $0.time + Self.longest <= now }
        marks.removeFirst(old.count)
        if marks != before { try access.meta.set(.anchorMarks, marks.map(\.text).joined(separator: " ")) }
        for table in ["tombstones", "changes"] {
            if let last = old.last { try drop("anchor <= ?", last.anchor, from: table) }
            // The numbers count tombstones, and changes, since only the first ones are dropped.
            if let newest = try integer("SELECT max(number) FROM \(table)") {
                try drop("number <= ?", newest - Int64(most), from: table)
            }
        }
    }

    private func drop(_ condition: String, _ argument: Int64, from table: String) throws {
        guard let highest = try integer("SELECT max(anchor) FROM \(table) WHERE \(condition)", .integer(argument))
        else { return }
        try run("DELETE FROM \(table) WHERE \(condition)", .integer(argument))
        try access.meta.set(.tombstoneFloor, max(floor(), highest))
    }
}

/// A time, and the anchor that was the last one then.
private struct AnchorMark: Hashable {
    var time: Timestamp
    var anchor: Int64

    var text: String { "\(time.nanoseconds):\(anchor)" }

    static func marks(_ text: String) -> [AnchorMark] {
        text.split(separator: " ").compactMap { mark in
            let numbers = mark.split(separator: ":").compactMap { Int64($0) }
            return numbers.count == 2
                ? AnchorMark(time: Timestamp(nanoseconds: numbers[0]), anchor: numbers[1]) : nil
        }
    }
}

extension Tombstone {
    init(_ row: RawStatement) {
        self.init(
            number: row.integer(5) ?? 0, databaseID: row.id(0), localID: LocalID(row.text(1) ?? ""),
            path: ItemPath(unchecked: row.text(2) ?? ""),
            kind: row.kind(3), anchor: row.integer(4) ?? 0)
    }
}

extension MetaKey {
    /// The number of this course of anchors.
    static let epoch = MetaKey("epoch")
    /// The highest anchor of a tombstone that was dropped.
    static let tombstoneFloor = MetaKey("tombstoneFloor")
    /// The anchors at the beginnings of the last days.
    static let anchorMarks = MetaKey("anchorMarks")
}

extension DatabaseReads {
    /// The tombstones of deleted rows.
    public var tombstones: TombstoneTable<Self> { TombstoneTable(access: self) }
}

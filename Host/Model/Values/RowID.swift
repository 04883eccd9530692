/// The number of a row in a table of the database. A row keeps its number, and later rows get larger numbers. It is
/// encoded as a single number.
public protocol RowID: Hashable, Codable, Comparable, Sendable, CustomStringConvertible {
    var number: Int64 { get }
    init(_ number: Int64)
}

extension RowID {
    /// The id of a value that is not stored yet. It is also the number before that of the first row.
    public static var none: Self { Self(0) }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    public var description: String { String(number) }

    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Int64.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}

/// The number of an item's row, for as long as the row exists. ``LocalID`` identifies the item beyond that.
public struct ItemRowID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// The number of an item policy's row. Policies are ordered by their rows.
public struct PolicyRowID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// The number of a record in the sync engine's journal. Records are ordered by their ids.
public struct SyncRecordID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// The number of an issue, by which a person resolves it.
public struct IssueID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// The number of a move of the tree that is still to be carried out.
public struct TreeMoveID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// The number of the content of a cached calendar's object.
public struct CalendarContentID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

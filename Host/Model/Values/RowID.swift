/// The number that a table of the database gives a row. The row keeps it; a later row gets a larger one.
public protocol RowID: Hashable, Comparable, Sendable, CustomStringConvertible {
    var number: Int64 { get }
    init(_ number: Int64)
}

extension RowID {
    /// The id of what is not stored yet, and the number before the first row's.
    public static var none: Self { Self(0) }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    public var description: String { String(number) }
}

/// An item's row, for as long as the row is there; ``LocalID`` names the item also after that.
public struct ItemRowID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// An item policy's row; policies are in the order of their rows.
public struct PolicyRowID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// A record of the sync engine's journal; records are done in the order of their ids.
public struct SyncRecordID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// An issue, by the id that a person resolves it with.
public struct IssueID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// A move of the tree that is still to be carried out.
public struct TreeMoveID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

/// The content of a cached calendar's object.
public struct CalendarContentID: RowID {
    public let number: Int64
    public init(_ number: Int64) { self.number = number }
}

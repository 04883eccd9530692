/// A column of an item's row. The raw value is the column's index in a cursor's rows.
public enum ItemColumn: Int32, Sendable, CaseIterable {
    case databaseID = 0
    case localID, fileID, path, parentPath, name
    /// 0 for a file, 1 for a folder.
    case type
    case size, mimeType
    case etag, etagStrength
    case lastModified
    /// 0 or 1.
    case favorite
    case owner, permissions
    case removedAt
    /// 0 or 1.
    case removed
    /// The raw value of a `CloudStatus`.
    case cloudStatus
    case copyETag, copyETagStrength, copyDigest, copyInode, copySize, copyModified, copyChanged, copyRecorded
    /// 0 for current, 1 for newer, null without a copy.
    case remoteVersion
    case downloadTrigger, formerTrigger, lastUsed
    /// The raw value of a `SyncActivity`.
    case syncActivity
    case anchor

    /// The column's name in the table.
    public var sql: String { String(describing: self) }
}

/// The columns that a cursor reads. The other columns are null in the cursor's rows and cost nothing to read.
public struct ItemColumns: OptionSet, Hashable, Sendable {
    /// The columns as bits, numbered by their raw values.
    public let rawValue: UInt64
    /// Creates a set from its bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    /// Creates a set of one column.
    public init(_ column: ItemColumn) { rawValue = 1 << UInt64(column.rawValue) }
    /// Creates a set of columns.
    public init(_ columns: [ItemColumn]) { rawValue = columns.reduce(0) { $0 | 1 << UInt64($1.rawValue) } }

    /// Every column.
    public static let all = ItemColumns(ItemColumn.allCases)

    /// The text between SELECT and FROM, in which each column's index is its raw value.
    public var selection: String {
        ItemColumn.allCases.map { contains(ItemColumns($0)) ? "items.\($0.sql)" : "NULL" }.joined(separator: ", ")
    }

    /// The text of `ItemColumns.all.selection`, built once.
    static let wholeItem = all.selection
}

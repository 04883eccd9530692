/// A column of an item's row. The raw value is its place in a cursor's rows.
public enum ItemColumn: Int32, Sendable, CaseIterable {
    case databaseID = 0
    case localID, fileID, path, parentPath, name
    /// 0 file, 1 folder.
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
    /// `CloudStatus`.
    case cloudStatus
    case copyETag, copyETagStrength, copyDigest, copyInode, copySize, copyModified, copyChanged, copyRecorded
    /// 0 current, 1 newer, null without a copy.
    case remoteVersion
    case downloadTrigger, formerTrigger, lastUsed
    /// `SyncActivity`.
    case syncActivity
    case anchor

    /// The column's name in the table.
    public var sql: String { String(describing: self) }
}

/// Which columns a cursor reads. Those that it leaves out are null in its rows and cost nothing to read.
public struct ItemColumns: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public init(_ column: ItemColumn) { rawValue = 1 << UInt64(column.rawValue) }
    public init(_ columns: [ItemColumn]) { rawValue = columns.reduce(0) { $0 | 1 << UInt64($1.rawValue) } }

    public static let all = ItemColumns(ItemColumn.allCases)

    /// What stands between SELECT and FROM, so that each column's place is its raw value.
    public var selection: String {
        ItemColumn.allCases.map { contains(ItemColumns($0)) ? "items.\($0.sql)" : "NULL" }.joined(separator: ", ")
    }

    /// `ItemColumns.all.selection`, made once.
    static let wholeItem = all.selection
}

import GRDB
public import Model

/// What a scan compares with a listing's entry: a row without its local details.
public struct ScanRow: Hashable, Sendable {
    public var databaseID: Int64
    public var localID: LocalID
    public var fileID: FileID?
    public var path: ItemPath
    public var kind: Item.Kind
    public var etag: ETag?
    public var size: Int64?
    public var lastModified: Timestamp?
    public var mimeType: String?
    public var isFavorite: Bool
    public var owner: String?
    public var permissions: String?
    /// The opaque ETag of a folder when its children were listed whole.
    public var listedETag: String?
    public var racy: Racy
    public var removedAt: Timestamp?
    public var cloudStatus: CloudStatus

    /// Whether a file changed so shortly before its listing that its ETag may name two contents.
    public enum Racy: Int, Sendable {
        case no = 0
        /// Its ETag was strong, or there was none.
        case yes = 1
        /// Its ETag was weak; the same text, strong, later, is the server's word that nothing changed.
        case untilStrong = 2
        /// It was so, and the copy here may hold the first of two contents: it is to be fetched once more.
        case distrusted = 3
    }

    private static let selection = """
        SELECT databaseID, localID, fileID, path, type, etag, etagStrength, size, lastModified, mimeType, favorite, owner,
        permissions, listedETag, racy, removedAt, cloudStatus
        FROM items WHERE
        """
    // Made once: they are looked up by their text, for each item.
    fileprivate static let atPath = "\(selection) path = ? AND removedAt IS NULL"
    fileprivate static let withFileID = """
        \(selection) fileID = ? ORDER BY removedAt IS NOT NULL, removedAt DESC LIMIT 1
        """
    fileprivate static let withDatabaseID = "\(selection) databaseID = ?"
    fileprivate static let inFolder = """
        \(selection) parentPath = ? AND path <> '/' AND removedAt IS NULL AND fileID IS NOT NULL
        """

    init(_ row: RawStatement) {
        databaseID = row.integer(0) ?? 0
        localID = LocalID(row.text(1) ?? "")
        fileID = row.text(2).map(FileID.init)
        path = ItemPath(unchecked: row.text(3) ?? "")
        kind = row.integer(4) == 1 ? .folder : .file
        etag = ETag(row.text(5), strength: row.integer(6))
        size = row.integer(7)
        lastModified = row.integer(8).map(Timestamp.init(nanoseconds:))
        mimeType = row.text(9)
        isFavorite = row.integer(10) == 1
        owner = row.text(11)
        permissions = row.text(12)
        listedETag = row.text(13)
        racy = row.integer(14).flatMap { Racy(rawValue: Int($0)) } ?? .no
        removedAt = row.integer(15).map(Timestamp.init(nanoseconds:))
        cloudStatus = row.integer(16).flatMap { CloudStatus(rawValue: Int($0)) } ?? .cloudOnly
    }
}

extension DatabaseReads {
    /// The row that is on the server, or here alone, at this path.
    public func scanRow(at path: ItemPath) throws -> ScanRow? {
        try scanRows(ScanRow.atPath) { $0.bind(1, path.text) }.first
    }

    /// The row with the server's id: one that is not removed if there is one, else the one removed last.
    public func scanRow(withFileID id: FileID) throws -> ScanRow? {
        try scanRows(ScanRow.withFileID) { $0.bind(1, id.text) }.first
    }

    public func scanRow(databaseID: Int64) throws -> ScanRow? {
        try scanRows(ScanRow.withDatabaseID) { $0.bind(1, databaseID) }.first
    }

    /// What is known to be in a folder on the server: rows by id.
    public func scanRows(in folder: ItemPath) throws -> [ScanRow] {
        try scanRows(ScanRow.inFolder) { $0.bind(1, folder.text) }
    }

    private func scanRows(_ sql: String, _ bind: (RawStatement) -> Void) throws -> [ScanRow] {
        let statement = try RawStatement(db, sql)
        defer { statement.reset() }
        bind(statement)
        var rows: [ScanRow] = []
        while try statement.step() { rows.append(ScanRow(statement)) }
        return rows
    }

    /// Whether a folder below another one was never listed whole.
    public func hasUnlistedFolder(below folder: ItemPath) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM items WHERE path >= ? AND path < ? AND type = 1 AND listedETag IS NULL
                      AND removedAt IS NULL AND fileID IS NOT NULL)
                    """), arguments: Self.range(below: folder)) ?? false
    }

    /// The ids of the rows that a folder is known to hold on the server, handed over one by one.
    public func forEachKnownChild(of folder: ItemPath, _ body: (Int64) throws -> Void) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT databaseID FROM items
                WHERE parentPath = ? AND path <> '/' AND removedAt IS NULL AND fileID IS NOT NULL
                """)
        let ids = try Int64.fetchCursor(statement, arguments: [folder.text])
        while let id = try ids.next() { try body(id) }
    }
}

public import Model

/// What a scan compares with a listing's entry: a row without its local details.
public struct ScanRow: Hashable, Sendable {
    public var databaseID: ItemRowID
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

    init(_ row: RawStatement) {
        databaseID = row.id(0)
        localID = LocalID(row.text(1) ?? "")
        fileID = row.text(2).map(FileID.init)
        path = ItemPath(unchecked: row.text(3) ?? "")
        kind = row.kind(4)
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
        cloudStatus = row.status(16)
    }
}

extension ItemTable {
    /// The row that is on the server, or here alone, at this path.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func scanRow(at path: ItemPath) throws -> ScanRow? { try row(ScanRow.atPath, [.path(path)], ScanRow.init) }

    /// The row with the server's id: one that is not removed if there is one, else the one removed last.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func scanRow(withFileID id: FileID) throws -> ScanRow? {
        try row(ScanRow.withFileID, [.text(id.text)], ScanRow.init)
    }

    /// Reads a row, removed or not; nil if there is none.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func scanRow(databaseID: ItemRowID) throws -> ScanRow? {
        try row(ScanRow.withDatabaseID, [.id(databaseID)], ScanRow.init)
    }

    /// Whether a copy is to be fetched once more, since it may hold the first of two contents with one ETag.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func isCopyDistrusted(databaseID: ItemRowID) throws -> Bool {
        try exists(
            "SELECT 1 FROM items WHERE databaseID = ? AND racy = \(ScanRow.Racy.distrusted.sql)", .id(databaseID))
    }

    /// Whether a folder below another one was never listed whole.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func hasUnlistedFolder(below folder: ItemPath) throws -> Bool {
        try exists(
            """
            SELECT 1 FROM items WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isFolder) AND listedETag IS NULL
              AND \(ItemSQL.isListed)
            """, ItemSQL.range(below: folder))
    }

    /// The ids of the rows that a folder is known to hold on the server, handed over one by one.
    /// - Throws: What `body` throws, or SQLite's error; see ``DatabaseReads``.
    public func forEachKnownChild(of folder: ItemPath, _ body: (ItemRowID) throws -> Void) throws {
        let statement = try RawStatement(
            db, "SELECT databaseID FROM items WHERE parentPath = ? AND path <> '/' AND \(ItemSQL.isListed)")
        defer { statement.reset() }
        statement.bind(1, folder.text)
        while try statement.step() { try body(statement.id(0)) }
    }

    /// How many items the server is known to have, without the root. A displaced one and the one in its place count once.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func knownCount() throws -> Int {
        let listed = try integer("SELECT count(*) FROM items WHERE \(ItemSQL.isListed) AND path <> '/'") ?? 0
        let displaced = try integer(
            """
            SELECT count(DISTINCT path) FROM missingItems JOIN items USING (databaseID)
            WHERE removedAt IS NOT NULL AND NOT \(ItemSQL.hasSuccessor)
            """)
        return Int(listed + (displaced ?? 0))
    }

    /// The ids of what was flagged below a folder at a time.
    func ids(below folder: ItemPath, removedAt time: Timestamp) throws -> [ItemRowID] {
        try ids(
            "SELECT databaseID FROM items WHERE \(ItemSQL.isBelow) AND removedAt = ?",
            ItemSQL.bounds(below: folder) + [.time(time)])
    }

    /// Whether no file of an item is here.
    func isWithoutFile(databaseID: ItemRowID) throws -> Bool {
        try !exists(
            "SELECT 1 FROM items WHERE databaseID = ? AND \(ItemSQL.isHere) AND \(ItemSQL.isFile)",
            .id(databaseID))
    }
}

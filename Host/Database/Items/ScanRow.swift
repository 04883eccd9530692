public import Model

/// The part of a row that a scan compares with a listing's entry, without the details of the local copy.
public struct ScanRow: Hashable, Sendable {
    /// The row's id.
    public var databaseID: ItemRowID
    /// The item's id on this side, which stays the same through moves.
    public var localID: LocalID
    /// The server's id; nil for an item that is only here.
    public var fileID: FileID?
    /// The item's path.
    public var path: ItemPath
    /// Whether the item is a file or a folder.
    public var kind: Item.Kind
    /// The ETag of the newest version that is known to be on the server.
    public var etag: ETag?
    /// The size in bytes.
    public var size: Int64?
    /// The server's modification time.
    public var lastModified: Timestamp?
    /// The MIME type that the server gives.
    public var mimeType: String?
    /// Whether the item is a favorite.
    public var isFavorite: Bool
    /// The owner that the server names.
    public var owner: String?
    /// The permissions that the server gives.
    public var permissions: String?
    /// The opaque ETag that a folder had when its children were listed completely.
    public var listedETag: String?
    /// Whether the item's ETag may name two contents.
    public var racy: Racy
    /// The time at which the item was found to be removed; nil if it is not removed.
    public var removedAt: Timestamp?
    /// Where the item's content is.
    public var cloudStatus: CloudStatus

    /// The state of a file that may have changed so shortly before its listing that its ETag names two contents.
    public enum Racy: Int, Sendable {
        /// The ETag names one content.
        case no = 0
        /// The file changed shortly before its listing, and its ETag was strong or missing.
        case yes = 1
        /// The file changed shortly before its listing, and its ETag was weak. If a later ETag has the same text and is
        /// strong, the server states that nothing changed.
        case untilStrong = 2
        /// The ETag named two contents, and the local copy may hold the first of them. The file must be fetched once
        /// more.
        case distrusted = 3
    }

    private static let selection = """
        SELECT databaseID, localID, fileID, path, type, etag, etagStrength, size, lastModified, mimeType, favorite,
        owner, permissions, listedETag, racy, removedAt, cloudStatus
        FROM items WHERE
        """
    // The statements' texts, built once, since each item's read uses them as keys of the statement cache.
    fileprivate static let atPath = "\(selection) path = ? AND removedAt IS NULL"
    fileprivate static let withFileID = "\(selection) fileID = ?"
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

extension ScanRow {
    /// Tells whether a download of the listed entry may succeed where one of the row's version has failed.
    func mayBeFetchedOtherwise(as entry: ListedItem) -> Bool {
        etag != entry.etag || size != entry.size || permissions != entry.permissions
    }
}

extension ItemTable {
    /// Returns the row at a path that is not removed: on the server, or only here.
    public func scanRow(at path: ItemPath) throws -> ScanRow? { try row(ScanRow.atPath, [.path(path)], ScanRow.init) }

    /// Returns the rows with a server's id, removed or not, in no order. Some servers list an id at several places, each
    /// of which is an item.
    public func scanRows(withFileID id: FileID) throws -> [ScanRow] {
        try rows(ScanRow.withFileID, [.text(id.text)], ScanRow.init)
    }

    /// Returns a row, removed or not; nil if there is none.
    public func scanRow(databaseID: ItemRowID) throws -> ScanRow? {
        try row(ScanRow.withDatabaseID, [.id(databaseID)], ScanRow.init)
    }

    /// Tells whether a copy must be fetched once more, since it may hold the first of two contents with one ETag.
    public func isCopyDistrusted(databaseID: ItemRowID) throws -> Bool {
        try exists(
            "SELECT 1 FROM items WHERE databaseID = ? AND racy = \(ScanRow.Racy.distrusted.sql)", .id(databaseID))
    }

    /// Tells whether a folder below another folder does not count as listed completely.
    public func hasUnlistedFolder(below folder: ItemPath) throws -> Bool {
        try exists(
            """
            SELECT 1 FROM items WHERE \(ItemSQL.isInRange) AND \(ItemSQL.isFolder) AND listedETag IS NULL
              AND \(ItemSQL.isListed)
            """, ItemSQL.range(below: folder))
    }

    /// Calls `body` with the id of each row that a folder is known to hold on the server.
    /// - Throws: What `body` throws.
    public func forEachKnownChild(of folder: ItemPath, _ body: (ItemRowID) throws -> Void) throws {
        let statement = try RawStatement(
            db, "SELECT databaseID FROM items WHERE parentPath = ? AND path <> '/' AND \(ItemSQL.isListed)")
        defer { statement.reset() }
        statement.bind(1, folder.text)
        while try statement.step() { try body(statement.id(0)) }
    }

    /// Calls `body` with the id and the name of each row in a folder whose name has more than ASCII and that is not
    /// removed.
    /// - Throws: What `body` throws.
    public func forEachUnusualName(in folder: ItemPath, _ body: (ItemRowID, String) throws -> Void) throws {
        let statement = try RawStatement(
            db,
            """
            SELECT databaseID, name FROM items
            WHERE parentPath = ? AND removedAt IS NULL AND length(name) < length(CAST(name AS BLOB))
            """)
        defer { statement.reset() }
        statement.bind(1, folder.text)
        while try statement.step() { try body(statement.id(0), statement.text(1) ?? "") }
    }

    /// Returns the number of items that the server is known to have, without the root. A displaced item and the item at
    /// its path count once.
    public func knownCount() throws -> Int {
        let listed = try knownRows() - count("fileID IS NULL AND removedAt IS NULL AND path <> '/'", by: "items_fileID")
        let displaced = try integer(
            """
            SELECT count(DISTINCT path) FROM missingItems JOIN items USING (databaseID)
            WHERE removedAt IS NOT NULL AND NOT \(ItemSQL.hasSuccessor)
            """)
        return Int(listed + (displaced ?? 0))
    }

    /// Returns the ids of the rows below a folder that were flagged at a time.
    func ids(below folder: ItemPath, removedAt time: Timestamp) throws -> [ItemRowID] {
        try ids(
            "SELECT databaseID FROM items WHERE \(ItemSQL.isBelow) AND removedAt = ?",
            ItemSQL.bounds(below: folder) + [.time(time)])
    }

    /// Tells whether no file of an item is here.
    func isWithoutFile(databaseID: ItemRowID) throws -> Bool {
        try !exists(
            "SELECT 1 FROM items WHERE databaseID = ? AND \(ItemSQL.isHere) AND \(ItemSQL.isFile)",
            .id(databaseID))
    }
}

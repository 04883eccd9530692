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

/// A folder that a scan has still to list.
public struct ScanJob: Hashable, Sendable {
    public var path: ItemPath
    /// Whether everything below is listed, whatever the ETags say.
    public var isWhole: Bool

    public init(path: ItemPath, isWhole: Bool) {
        self.path = path
        self.isWhole = isWhole
    }
}

/// A move of the tree that was decided and is still to be carried out.
public struct TreeMove: Hashable, Sendable {
    public var id: Int64
    public var localID: LocalID
    public var from: ItemPath
    public var to: ItemPath
}

// MARK: Reading

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

// MARK: Writing what the server listed

extension Transaction {
    /// Adds a row for an item that was not known.
    /// - Parameter inheritsLocalFile: a file of a person's lies at the path, which the server is not known to have.
    @discardableResult
    public func insertListed(
        _ entry: ListedItem, fileID: FileID, localID: LocalID = .random(), racy: ScanRow.Racy,
        inheritsLocalFile: Bool = false
    ) throws -> Int64 {
        let statement = try RawStatement(
            db,
            """
            INSERT INTO items (localID, fileID, path, parentPath, name, type, size, mimeType, etag, etagStrength,
              lastModified, favorite, owner, permissions, racy, cloudStatus, anchor)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind(1, localID.text)
        statement.bind(2, fileID.text)
        statement.bind(3, entry.path.text)
        statement.bind(4, entry.path.parent.text)
        statement.bind(5, entry.path.name)
        statement.bind(6, Int64(entry.kind.rawValue))
        statement.bind(7, entry.size)
        statement.bind(8, entry.mimeType)
        statement.bind(9, entry.etag?.opaque)
        statement.bind(10, entry.etag.map { Int64($0.strength.rawValue) })
        statement.bind(11, entry.lastModified?.nanoseconds)
        statement.bind(12, entry.isFavorite ? 1 : 0)
        statement.bind(13, entry.owner)
        statement.bind(14, entry.permissions)
        statement.bind(15, Int64(racy.rawValue))
        statement.bind(16, Int64((inheritsLocalFile ? CloudStatus.locallyModified : .cloudOnly).rawValue))
        statement.bind(17, try anchor)
        try statement.run()
        let id = db.lastInsertedRowID
        noteAdded(id)
        return id
    }

    /// Takes over what a listing says of a row that is at the entry's path already.
    public func updateListed(_ row: ScanRow, with entry: ListedItem, fileID: FileID, racy: ScanRow.Racy) throws {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE items SET fileID = ?, size = ?, mimeType = ?, etag = ?, etagStrength = ?, lastModified = ?,
                  favorite = ?, owner = ?, permissions = ?, racy = ?, anchor = ?
                WHERE databaseID = ?
                """)
        try statement.execute(arguments: [
            fileID.text, entry.size, entry.mimeType, entry.etag?.opaque, entry.etag?.strength.rawValue,
            entry.lastModified?.nanoseconds, entry.isFavorite, entry.owner, entry.permissions, racy.rawValue, anchor,
            row.databaseID,
        ])
        noteUpdated(row.databaseID)
    }

    /// An ETag's strength and the race with the listing change without a change of the item: nobody is told.
    public func renewListed(_ row: ScanRow, etag: ETag?, racy: ScanRow.Racy) throws {
        try db.cachedStatement(sql: "UPDATE items SET etagStrength = ?, racy = ? WHERE databaseID = ?")
            .execute(arguments: [etag?.strength.rawValue, racy.rawValue, row.databaseID])
    }

    /// A copy that may hold the first of two contents with one ETag counts as outdated, so that it is fetched once more.
    public func distrustCopy(of row: ScanRow) throws {
        try db.cachedStatement(
            sql: """
                UPDATE items SET racy = 0, copyETag = 'raced:' || copyETag, anchor = ?
                WHERE databaseID = ? AND copyETag IS NOT NULL
                """
        ).execute(arguments: [anchor, row.databaseID])
        noteUpdated(row.databaseID)
    }

    /// What was only here is on the server too, with another content as far as is known.
    public func meetLocalItem(_ row: ScanRow, with entry: ListedItem, fileID: FileID) throws {
        try updateListed(row, with: entry, fileID: fileID, racy: .no)
        let status: CloudStatus = entry.kind == .folder ? .localCopy : .locallyModified
        try db.cachedStatement(sql: "UPDATE items SET cloudStatus = ? WHERE databaseID = ?")
            .execute(arguments: [status.rawValue, row.databaseID])
    }

    /// Records that a folder's children were listed whole under this version of it.
    public func setListed(folder databaseID: Int64, etag: ETag?) throws {
        // What is so already makes no page of the database new.
        try db.cachedStatement(sql: "UPDATE items SET listedETag = ?1 WHERE databaseID = ?2 AND listedETag IS NOT ?1")
            .execute(arguments: [etag?.opaque, databaseID])
    }

    /// No folder counts as listed any more.
    public func forgetListings() throws {
        try db.execute(sql: "UPDATE items SET listedETag = NULL WHERE listedETag IS NOT NULL")
    }
}

// MARK: Removing and moving

extension Transaction {
    /// Flags a row, and all below it, as no longer on the server. Copies stay where they are.
    public func removeListed(_ row: ScanRow, at time: Timestamp) throws {
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = ?, anchor = ? WHERE databaseID = ? AND removedAt IS NULL
                    RETURNING databaseID
                    """), arguments: [time.nanoseconds, anchor, row.databaseID])
        ids.forEach(noteRemoved)
        guard row.kind == .folder else { return }
        let below = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = ?, anchor = ?
                    WHERE path >= ? AND path < ? AND removedAt IS NULL AND fileID IS NOT NULL
                    RETURNING databaseID
                    """), arguments: [time.nanoseconds, anchor] + Self.range(below: row.path))
        below.forEach(noteRemoved)
    }

    /// The server has the item at another path now: the row keeps its id, copy and last use, and so does all below it.
    ///
    /// What is here moves with it: the tree's moves are journalled in this transaction.
    /// - Parameter placeIsTaken: another item of the server's is at the old path, so that a folder's copies move one by one.
    public func moveListed(
        _ row: ScanRow, to entry: ListedItem, fileID: FileID, racy: ScanRow.Racy, placeIsTaken: Bool
    ) throws {
        let old = row.path
        if row.kind == .folder {
            if try placeIsTaken && !isMoveToCome(to: old) {
                try journalMovesOfCopies(below: old, to: entry.path, removedAt: row.removedAt)
            } else {
                try journalMove(of: row.localID, from: old, to: entry.path)
            }
            try movePaths(below: old, to: entry.path, restoring: row.removedAt, alone: placeIsTaken)
        } else if row.cloudStatus != .cloudOnly {
            try journalMove(of: row.localID, from: old, to: entry.path)
        }
        try db.cachedStatement(
            sql: "UPDATE items SET path = ?, parentPath = ?, name = ?, removedAt = NULL WHERE databaseID = ?"
        ).execute(arguments: [entry.path.text, entry.path.parent.text, entry.path.name, row.databaseID])
        try db.cachedStatement(sql: "UPDATE syncRecords SET path = ? WHERE localID = ?")
            .execute(arguments: [entry.path.text, row.localID.text])
        try updateListed(row, with: entry, fileID: fileID, racy: racy)
    }

    /// A removed item is on the server again, where it was: the row keeps its id, copy and last use.
    public func restoreListed(_ row: ScanRow, with entry: ListedItem, fileID: FileID, racy: ScanRow.Racy) throws {
        try db.cachedStatement(sql: "UPDATE items SET removedAt = NULL, listedETag = NULL WHERE databaseID = ?")
            .execute(arguments: [row.databaseID])
        try updateListed(row, with: entry, fileID: fileID, racy: racy)
    }

    /// Rewrites the paths of all below a folder, whatever their state: they lie where the folder goes. Those that were
    /// removed together with the folder come back with it.
    /// - Parameter alone: others below are another folder's, which has the path now.
    private func movePaths(
        below old: ItemPath, to new: ItemPath, restoring removedAt: Timestamp?, alone: Bool
    ) throws {
        // What is only here below the new path is found again in the tree.
        try db.cachedStatement(sql: "DELETE FROM items WHERE \(Self.below) AND fileID IS NULL")
            .execute(arguments: Self.bounds(below: new))
        let cut = old.prefixOfItemsBelow.utf8.count
        // substr on a blob counts bytes.
        let moved = { (column: String) in
            "CAST(CAST(? AS BLOB) || substr(CAST(\(column) AS BLOB), ?) AS TEXT)"
        }
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET path = \(moved("path")),
                      parentPath = CASE WHEN parentPath = ? THEN ? ELSE \(moved("parentPath")) END,
                      removedAt = CASE WHEN removedAt IS ? THEN NULL ELSE removedAt END, anchor = ?
                    WHERE \(Self.below) AND (NOT ? OR removedAt IS ?)
                    RETURNING databaseID
                    """),
            arguments: [
                new.prefixOfItemsBelow, cut + 1, old.text, new.text, new.prefixOfItemsBelow, cut + 1,
                removedAt?.nanoseconds, anchor,
            ] + Self.bounds(below: old) + [alone, removedAt?.nanoseconds])
        ids.forEach(noteUpdated)
        try db.cachedStatement(
            sql: "UPDATE syncRecords SET path = \(moved("path")) WHERE path >= ? AND path < ?"
        ).execute(arguments: [new.prefixOfItemsBelow, cut + 1] + Self.range(below: old))
    }

    private func journalMove(of localID: LocalID, from old: ItemPath, to new: ItemPath) throws {
        try db.cachedStatement(sql: "INSERT INTO treeMoves (localID, fromPath, toPath) VALUES (?, ?, ?)")
            .execute(arguments: [localID.text, old.text, new.text])
    }

    /// Whether what has a path now in the rows has still to move there in the tree.
    private func isMoveToCome(to path: ItemPath) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM treeMoves WHERE toPath = ?)"), arguments: [path.text])
            ?? false
    }

    private func journalMovesOfCopies(below old: ItemPath, to new: ItemPath, removedAt: Timestamp?) throws {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT localID, path FROM items
                    WHERE \(Self.below) AND type = 0 AND cloudStatus <> 0 AND removedAt IS ?
                    """),
            arguments: Self.bounds(below: old) + [removedAt?.nanoseconds])
        for row in rows {
            let path = ItemPath(unchecked: row[1])
            try journalMove(of: LocalID(row[0]), from: path, to: path.moved(from: old, to: new))
        }
    }

    /// All rows below a folder, removed ones too.
    private static let below = "(parentPath = ? OR (parentPath >= ? AND parentPath < ?))"
    private static func bounds(below folder: ItemPath) -> StatementArguments { [folder.text] + range(below: folder) }

    /// A local file that was changed here and whose item is gone on the server is only here now. It is never removed.
    ///
    /// Called when a scan has finished: until then the item may turn up elsewhere.
    public func keepModifiedOfRemoved() throws {
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET removedAt = NULL, fileID = NULL, etag = NULL, etagStrength = NULL,
                      cloudStatus = 3, copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL, racy = 0, anchor = ?
                    WHERE removedAt IS NOT NULL AND cloudStatus = 2
                      AND NOT EXISTS (SELECT 1 FROM items AS other WHERE other.path = items.path AND other.removedAt IS NULL)
                    RETURNING databaseID
                    """), arguments: [anchor])
        ids.forEach(noteUpdated)
    }
}

// MARK: Issues of names

extension DatabaseReads {
    /// The subjects of a kind of issue that begin with a text that ends in a slash.
    public func issueSubjects(code: String, prefix: String) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT subject FROM issues WHERE code = ? AND subject >= ? AND subject < ?"),
            arguments: [code, prefix, String(prefix.dropLast()) + "0"])
    }
}

// MARK: The scan's own state

extension Transaction {
    public func addScanJob(_ job: ScanJob) throws {
        try db.cachedStatement(
            sql:
                "INSERT INTO scanJobs (path, whole) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET whole = max(whole, excluded.whole)"
        ).execute(arguments: [job.path.text, job.isWhole])
    }

    public func removeScanJob(_ path: ItemPath) throws {
        try db.cachedStatement(sql: "DELETE FROM scanJobs WHERE path = ?").execute(arguments: [path.text])
    }

    public func removeTreeMove(_ id: Int64) throws {
        try db.cachedStatement(sql: "DELETE FROM treeMoves WHERE id = ?").execute(arguments: [id])
    }
}

// MARK: What lies at a path that another item takes

extension Transaction {
    /// The file at the row's path counts for another row from now on. A row for what is here alone ends.
    public func forgetLocalFile(of row: ScanRow) throws {
        if row.fileID == nil {
            try db.cachedStatement(sql: "DELETE FROM items WHERE databaseID = ?").execute(arguments: [row.databaseID])
        } else {
            try db.cachedStatement(
                sql: """
                    UPDATE items SET cloudStatus = 0, copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL,
                      copyInode = NULL, copySize = NULL, copyModified = NULL, copyChanged = NULL, copyRecorded = NULL,
                      downloadTrigger = NULL, formerTrigger = NULL, anchor = ?
                    WHERE databaseID = ?
                    """
            ).execute(arguments: [anchor, row.databaseID])
        }
        noteUpdated(row.databaseID)
    }

    /// At the item's path lies a file of a person's that the server is not known to have.
    public func meetUnknownFile(at localID: LocalID) throws {
        let ids = try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    UPDATE items SET cloudStatus = 2, copyETag = NULL, copyETagStrength = NULL, copyDigest = NULL, anchor = ?
                    WHERE localID = ? RETURNING databaseID
                    """), arguments: [anchor, localID.text])
        ids.forEach(noteUpdated)
    }
}

extension DatabaseReads {
    public func scanJobs() throws -> [ScanJob] {
        try Row.fetchAll(db.cachedStatement(sql: "SELECT path, whole FROM scanJobs ORDER BY path"))
            .map { ScanJob(path: ItemPath(unchecked: $0[0]), isWhole: $0[1]) }
    }

    public func treeMoves() throws -> [TreeMove] {
        try Row.fetchAll(db.cachedStatement(sql: "SELECT id, localID, fromPath, toPath FROM treeMoves ORDER BY id"))
            .map {
                TreeMove(
                    id: $0[0], localID: LocalID($0[1]), from: ItemPath(unchecked: $0[2]), to: ItemPath(unchecked: $0[3])
                )
            }
    }
}

// MARK: Copies of items that are gone

extension DatabaseReads {
    /// The item that is gone from the server and whose copy lies at a path still.
    public func removedCopy(at path: ItemPath) throws -> Item? {
        var found: Item?
        try eachItem(
            where: "items.path = ? AND items.removedAt IS NOT NULL AND items.cloudStatus = 1", [.text(path.text)]
        ) { item in
            found = item
            return false
        }
        return found
    }

    /// The items below a folder that are gone from the server and whose copies are here still.
    public func removedCopies(below folder: ItemPath) throws -> [Item] {
        var found: [Item] = []
        let prefix = folder.prefixOfItemsBelow
        try eachItem(
            where: """
                (items.parentPath = ? OR (items.parentPath >= ? AND items.parentPath < ?))
                AND items.removedAt IS NOT NULL AND items.cloudStatus = 1
                """, [.text(folder.text), .text(prefix), .text(String(prefix.dropLast()) + "0")]
        ) { item in
            found.append(item)
            return true
        }
        return found
    }
}

extension Transaction {
    /// An item's copy is no longer here.
    public func dropCopy(of item: Item) throws {
        guard var item = try self.item(databaseID: item.databaseID) else { return }
        item.cloudStatus = .cloudOnly
        (item.copy, item.downloadTrigger, item.formerTrigger) = (nil, nil, nil)
        try updateLocal(item)
    }

    /// A folder cannot move as a whole, since its target is a folder with something in it: its copies move one by one.
    public func journalMovesIntoFolder(from old: ItemPath, to new: ItemPath) throws {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT localID, path FROM items WHERE \(Self.below) AND type = 0 AND cloudStatus <> 0"),
            arguments: Self.bounds(below: new))
        for row in rows {
            let path = ItemPath(unchecked: row[1])
            try journalMove(of: LocalID(row[0]), from: path.moved(from: new, to: old), to: path)
        }
    }
}

public import Model

/// A row of the journal with the row of its item. It is valid until the next one is read.
public struct JournalRow {
    fileprivate let row: RawStatement

    /// The record's id.
    public var id: SyncRecordID { row.id(JournalRowQuery.firstOfRecord) }
    /// Whether the record is the download of a small file that needs no second thought: see
    /// ``JournalTable/eachRow(after:_:)``.
    public var isOrdinary: Bool { row.integer(JournalRowQuery.isOrdinary) == 1 }
    /// As ``SyncRecord/whileCovered``.
    public var isWhileCovered: Bool { row.integer(JournalRowQuery.whileCovered) == 1 }
    /// The requester.
    public var reason: DownloadTrigger { DownloadTrigger(row.text(JournalRowQuery.reason) ?? "") }
    /// The number of the item's row.
    public var item: ItemRowID { row.id(ItemColumn.databaseID.rawValue) }
    /// The item's id.
    public var localID: LocalID { LocalID(row.text(ItemColumn.localID.rawValue) ?? "") }
    /// The size that the item is listed with.
    public var size: Int64 { row.integer(ItemColumn.size.rawValue) ?? 0 }
    /// The time of the last change that the item is listed with.
    public var lastModified: Timestamp {
        Timestamp(nanoseconds: row.integer(ItemColumn.lastModified.rawValue) ?? 0)
    }

    /// Returns the whole record.
    /// - Throws: `.internal` if the record makes no sense.
    public func record() throws -> SyncRecord {
        guard let record = SyncRecord(row, from: JournalRowQuery.firstOfRecord) else {
            throw Failure(.internal, "The sync journal has a record that makes no sense")
        }
        return record
    }

    /// Returns the whole item of an ordinary download.
    public func wholeItem() -> Item { Item(row) }

    /// Calls a function with the item's path and the opaque part of the item's ETag.
    public func withTexts<Result>(
        _ body: (_ path: UnsafeRawBufferPointer, _ version: UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(row.bytes(ItemColumn.path.rawValue), row.bytes(ItemColumn.etag.rawValue))
    }
}

private enum JournalRowQuery {
    static let firstOfRecord = Int32(ItemColumn.allCases.count)
    static let reason = firstOfRecord + index("reason")
    static let whileCovered = firstOfRecord + index("whileCovered")
    static let isOrdinary = firstOfRecord + Int32(SyncRecordColumns.names.count)

    private static func index(_ name: String) -> Int32 {
        Int32(SyncRecordColumns.names.firstIndex(of: name) ?? 0)
    }

    static let rows: String = {
        let record = SyncRecordColumns.names.map { "syncRecords.\($0)" }.joined(separator: ", ")
        return """
            SELECT \(ItemColumns.wholeItem), \(record), \(ordinary)
            FROM syncRecords LEFT JOIN items ON items.localID = syncRecords.localID
            WHERE syncRecords.id > ? ORDER BY syncRecords.id
            """
    }()

    /// Whether a download is the first one of a small file of which nothing is here, in a version with a strong ETag, and
    /// nothing else is known or wanted of the file.
    private static let ordinary = """
        (syncRecords.action = '\(SyncRecord.Action.Kind.download.rawValue)'
          AND syncRecords.state <> \(State.failed.sql) AND syncRecords.parameters IS NULL
          AND syncRecords.waitUntil IS NULL AND syncRecords.waitVersion IS NULL AND syncRecords.waitIssue IS NULL
          AND syncRecords.waitPlace IS NULL
          AND syncRecords.landingDigest IS NULL AND syncRecords.attempts = 0 AND syncRecords.rounds = 0
          AND (syncRecords.key IS NULL OR syncRecords.key NOT GLOB 'fetchAgain:*')
          AND items.\(ItemSQL.isFile) AND items.path = syncRecords.path AND items.removedAt IS NULL
          AND items.fileID IS NOT NULL AND items.cloudStatus = \(CloudStatus.cloudOnly.sql)
          AND items.copyETag IS NULL AND items.downloadTrigger IS NULL AND items.formerTrigger IS NULL
          AND items.size BETWEEN 0 AND \(SizeClass.largestSmall) AND items.lastModified IS NOT NULL
          AND items.etag <> '' AND items.etagStrength = \(ETag.Strength.strong.sql)
          AND NOT EXISTS (SELECT 1 FROM syncRecords AS other
            WHERE other.localID = syncRecords.localID AND other.id <> syncRecords.id))
        """
}

extension JournalTable {
    /// Reads all records with their items, in the order in which they are carried out, as ``each(after:_:)`` does.
    ///
    /// A record counts as ordinary if it is a download that was not tried before, of a file of at most
    /// ``SizeClass/largestSmall`` bytes of which nothing is here, in a version with a strong ETag, and if the journal has
    /// no other record of the item.
    /// - Parameters:
    ///   - id: The record after which the reading begins.
    ///   - body: A function that receives each row and returns false to end early.
    /// - Throws: What `body` throws.
    public func eachRow(after id: SyncRecordID, _ body: (JournalRow) throws -> Bool) throws {
        let statement = try RawStatement(db, JournalRowQuery.rows)
        defer { statement.reset() }
        statement.bind(1, id)
        while try statement.step() { guard try body(JournalRow(row: statement)) else { return } }
    }

    /// Returns the paths at which records change the server.
    /// - Parameter limit: The largest number of records.
    /// - Returns: The paths; nil if there are more records.
    public func changedPaths(limit: Int) throws -> [ItemPath]? {
        let statement = try RawStatement(
            db, "SELECT path, otherPath FROM syncRecords WHERE \(SyncRecordQuery.changesServer) LIMIT ?")
        defer { statement.reset() }
        statement.bind(1, Int64(limit + 1))
        var paths: [ItemPath] = []
        var count = 0
        while try statement.step() {
            count += 1
            for column: Int32 in 0...1 {
                if let text = statement.text(column) { paths.append(ItemPath(unchecked: text)) }
            }
        }
        return count > limit ? nil : paths
    }
}

/// A small download, or an uploaded file, that is complete or in place.
public struct BatchedDownload: Sendable {
    /// The record.
    public var record: SyncRecordID
    /// The item's row.
    public var item: ItemRowID
    /// The item's path when the record was read.
    public var path: ItemPath
    /// The version, as the server tells it. That of a file that was requested is strong.
    public var version: ETag
    /// The SHA-256 of the content.
    public var digest: [UInt8]
    /// The file's mark: in `incoming/`, or in its place.
    public var mark: FileMark
    /// Whether the record says already that the download is complete: see ``JournalTable/conclude(_:)``.
    public var isRecorded: Bool

    /// Creates a download.
    public init(
        record: SyncRecordID, item: ItemRowID, path: ItemPath, version: ETag, digest: [UInt8], mark: FileMark,
        isRecorded: Bool = false
    ) {
        (self.record, self.item, self.path, self.version) = (record, item, path, version)
        (self.digest, self.mark, self.isRecorded) = (digest, mark, isRecorded)
    }
}

/// The writes for small downloads in batches. Each does nothing if anything is no longer as it was.
extension JournalTable where Access == Transaction {
    /// Records that downloads are complete and about to be put into the tree: each whose record still wants this version
    /// of an item that is where it was, and of which still nothing is here.
    /// - Returns: For each download whether it was recorded.
    public func setLandings(of downloads: [BatchedDownload]) throws -> [Bool] {
        let statement = try RawStatement(db, BatchSQL.landing)
        let areSet = try downloads.map { download in
            if download.isRecorded { return try isLanding(download) }
            statement.bind(1, download.version.opaque)
            statement.bind(2, Int64(download.version.strength.rawValue))
            statement.bind(3, download.digest)
            statement.bind(4, download.record)
            statement.bind(5, download.item)
            statement.bind(6, download.path.text)
            statement.bind(7, download.mark.size)
            statement.bind(8, download.mark.modified.nanoseconds)
            try statement.run()
            return changedRows == 1
        }
        access.noteRecordsChanged()
        return areSet
    }

    private func isLanding(_ download: BatchedDownload) throws -> Bool {
        try exists(
            BatchSQL.isLanding,
            [
                .text(download.version.opaque), .integer(Int64(download.version.strength.rawValue)),
                .blob(download.digest), .id(download.record), .id(download.item), .path(download.path),
            ])
    }

    /// Records in items that their copies are here, and removes the records: of each download of whose item nothing else
    /// has become known or wanted since ``setLandings(of:)``.
    /// - Returns: For each download whether it was done.
    public func complete(_ downloads: [BatchedDownload], now: Timestamp) throws -> [Bool] {
        let completion = try RawStatement(db, BatchSQL.completion)
        let anchor = try access.anchor
        var ended: [SyncRecordID] = []
        let areDone = try downloads.map { download in
            completion.bind(1, download.version.opaque)
            completion.bind(12, Int64(download.version.strength.rawValue))
            completion.bind(2, download.digest)
            completion.bind(3, Int64(bitPattern: download.mark.inode))
            completion.bind(4, download.mark.size)
            completion.bind(5, download.mark.modified.nanoseconds)
            completion.bind(6, download.mark.changed.nanoseconds)
            completion.bind(7, download.mark.recorded.nanoseconds)
            completion.bind(8, download.record)
            completion.bind(9, now.nanoseconds)
            completion.bind(10, anchor)
            completion.bind(11, download.item)
            try completion.run()
            guard changedRows == 1 else { return false }
            access.noteUpdated(download.item)
            access.noteRest(of: download.record)
            ended.append(download.record)
            return true
        }
        try run("DELETE FROM syncRecords WHERE id IN (SELECT value FROM json_each(?))", .text(Self.list(ended)))
        access.noteRecordsChanged()
        return areDone
    }

    /// Tells whether any record has an issue.
    public func haveIssues() throws -> Bool {
        try exists("SELECT 1 FROM issues WHERE record IS NOT NULL")
    }
}

private enum BatchSQL {
    static let landing = """
        UPDATE syncRecords SET state = \(State.processing.sql), landingETag = ?1, landingETagStrength = ?2,
          landingDigest = ?3, landingSize = ?7, landingModified = ?8
        WHERE id = ?4 AND landingDigest IS NULL AND \(isWanted)
        """

    static let isLanding = """
        SELECT 1 FROM syncRecords
        WHERE id = ?4 AND landingETag = ?1 AND landingETagStrength = ?2 AND landingDigest = ?3 AND \(isWanted)
        """

    /// Whether a record wants this version of an item that is at this path, and of which nothing is here.
    private static let isWanted = """
        action = '\(SyncRecord.Action.Kind.download.rawValue)' AND parameters IS NULL AND waitUntil IS NULL
          AND waitVersion IS NULL AND waitIssue IS NULL AND waitPlace IS NULL
          AND EXISTS (SELECT 1 FROM items
            WHERE items.databaseID = ?5 AND items.localID = syncRecords.localID AND items.path = ?6
              AND items.\(ItemSQL.isFile) AND items.removedAt IS NULL AND items.etag = ?1 AND items.etagStrength = ?2
              AND items.cloudStatus = \(CloudStatus.cloudOnly.sql) AND items.copyETag IS NULL)
        """

    static let completion = """
        UPDATE items SET cloudStatus = \(CloudStatus.localCopy.sql), copyETag = ?1,
          copyETagStrength = ?12, copyDigest = ?2, copyInode = ?3, copySize = ?4,
          copyModified = ?5, copyChanged = ?6, copyRecorded = ?7,
          downloadTrigger = (SELECT reason FROM syncRecords WHERE id = ?8), lastUsed = ?9,
          syncActivity = syncActivity & ~\(SyncActivity.downloading.rawValue), anchor = ?10,
          racy = iif(racy = \(ScanRow.Racy.distrusted.sql), \(ScanRow.Racy.no.sql), racy)
        WHERE databaseID = ?11 AND cloudStatus = \(CloudStatus.cloudOnly.sql) AND copyETag IS NULL
          AND downloadTrigger IS NULL AND formerTrigger IS NULL
          AND EXISTS (SELECT 1 FROM syncRecords WHERE id = ?8 AND syncRecords.localID = items.localID
            AND action = '\(SyncRecord.Action.Kind.download.rawValue)' AND landingDigest = ?2)
        """
}

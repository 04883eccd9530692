public import Model

/// A new file that was uploaded, and that the server provably holds.
public struct MadeFile: Sendable {
    /// The record of the upload.
    public var record: SyncRecordID
    /// The item's id.
    public var localID: LocalID
    /// The path to which the file was uploaded.
    public var path: ItemPath
    /// What the server holds: a version with an ETag of its own.
    public var item: ListedItem
    /// The SHA-256 of the content.
    public var digest: [UInt8]
    /// The size of the content in bytes.
    public var size: Int64

    /// Creates a file.
    public init(
        record: SyncRecordID, localID: LocalID, path: ItemPath, item: ListedItem, digest: [UInt8], size: Int64
    ) {
        (self.record, self.localID, self.path) = (record, localID, path)
        (self.item, self.digest, self.size) = (item, digest, size)
    }
}

/// The writes for uploads that are sent or concluded together. Each does nothing if anything is no longer as it was.
extension JournalTable where Access == Transaction {
    /// Marks uploads as sent: they may have arrived at the server from now on. Uploads that wait, or that were marked
    /// before, are left out.
    /// - Returns: The records that were marked, as ready records that were not sent.
    /// - Throws: `.internal` if a record makes no sense.
    public func markSent(_ uploads: [SyncRecordID]) throws -> [SyncRecordID: SyncRecord] {
        let statement = try RawStatement(db, BatchUploadSQL.sending)
        defer { statement.reset() }
        statement.bind(1, Self.list(uploads))
        var marked: [SyncRecordID: SyncRecord] = [:]
        while try statement.step() {
            guard var record = SyncRecord(statement) else {
                throw Failure(.internal, "The sync journal has a record that makes no sense")
            }
            (record.state, record.mayHaveArrived) = (.ready, false)
            marked[record.id] = record
        }
        access.noteRecordsChanged()
        return marked
    }

    /// Records that the server holds new files, and makes their records those of complete downloads: of each file of
    /// which nothing else has become known or wanted since it was queued.
    /// - Returns: For each file the number of its item's row; nil if nothing was recorded.
    public func conclude(_ files: [MadeFile]) throws -> [ItemRowID?] {
        let items = try RawStatement(db, BatchUploadSQL.item)
        let records = try RawStatement(db, BatchUploadSQL.record)
        let anchor = try access.anchor
        var concluded: [SyncRecordID] = []
        let rows: [ItemRowID?] = try files.map { file in
            items.bind(1, (file.item.fileID ?? .substitute(for: file.path)).text)
            items.bind(2, file.size)
            items.bind(3, file.item.mimeType)
            items.bind(4, file.item.etag?.opaque)
            items.bind(5, file.item.lastModified?.nanoseconds)
            items.bind(6, file.item.owner)
            items.bind(7, file.item.permissions)
            items.bind(8, Int64(file.item.isFavorite ? 1 : 0))
            items.bind(9, anchor)
            items.bind(10, file.localID.text)
            items.bind(11, file.path.text)
            items.bind(12, file.record)
            items.bind(13, file.item.etag.map { Int64($0.strength.rawValue) })
            var row: ItemRowID?
            while try items.step() { row = items.id(0) }
            items.reset()
            guard let row else { return nil }
            records.bind(1, file.item.etag?.opaque)
            records.bind(2, file.digest)
            records.bind(3, file.size)
            records.bind(4, file.item.lastModified?.nanoseconds)
            records.bind(5, file.record)
            records.bind(6, file.item.etag.map { Int64($0.strength.rawValue) })
            try records.run()
            access.noteUpdated(row)
            concluded.append(file.record)
            return row
        }
        try run(
            "DELETE FROM pendingPlaces WHERE record IN (SELECT value FROM json_each(?))", .text(Self.list(concluded)))
        access.noteRecordsChanged()
        return rows
    }
}

extension JournalTable {
    /// Returns ids as a JSON array.
    static func list(_ ids: some Sequence<SyncRecordID>) -> String {
        "[\(ids.map { "\($0.number)" }.joined(separator: ","))]"
    }
}

private enum BatchUploadSQL {
    private static let isUpload = "action = '\(SyncRecord.Action.Kind.upload.rawValue)'"
    private static let doesNotWait = """
        waitUntil IS NULL AND waitVersion IS NULL AND waitIssue IS NULL AND waitPlace IS NULL
        """

    static let sending = """
        UPDATE syncRecords SET state = \(SyncRecord.State.processing.sql), mayHaveArrived = 1
        WHERE id IN (SELECT value FROM json_each(?)) AND \(isUpload) AND mayHaveArrived = 0 AND \(doesNotWait)
        RETURNING \(SyncRecordColumns.selection)
        """

    static let item = """
        UPDATE items SET fileID = ?1, size = ?2, mimeType = coalesce(?3, mimeType), etag = ?4,
          etagStrength = ?13, lastModified = ?5, owner = coalesce(?6, owner),
          permissions = coalesce(?7, permissions), favorite = max(favorite, ?8), anchor = ?9,
          syncActivity = (syncActivity & ~\(SyncActivity.uploading.rawValue)) | \(SyncActivity.downloading.rawValue)
        WHERE localID = ?10 AND path = ?11 AND \(ItemSQL.isFile) AND removedAt IS NULL AND fileID IS NULL
          AND copiedBy IS NULL AND cloudStatus = \(CloudStatus.cloudOnly.sql) AND copyETag IS NULL
          AND formerETag IS NULL AND downloadTrigger IS NULL AND formerTrigger IS NULL
          AND EXISTS (SELECT 1 FROM syncRecords
            WHERE id = ?12 AND syncRecords.localID = items.localID AND syncRecords.path = items.path
              AND \(isUpload) AND mayHaveArrived = 1 AND \(doesNotWait))
          AND NOT EXISTS (SELECT 1 FROM syncRecords AS other
            WHERE other.localID = items.localID AND other.id <> ?12)
        RETURNING databaseID
        """

    static let record = """
        UPDATE syncRecords SET action = '\(SyncRecord.Action.Kind.download.rawValue)', parameters = NULL,
          state = \(SyncRecord.State.processing.sql), mayHaveArrived = 0, evidence = NULL, landingETag = ?1,
          landingETagStrength = ?6, landingDigest = ?2, landingSize = ?3,
          landingModified = ?4
        WHERE id = ?5
        """
}

public import Model

/// A record as the sync engine's journal holds it: with what the engine alone needs to go on after a stop.
public struct JournalRecord: Hashable, Sendable {
    public var record: SyncRecord
    /// How often new metadata was waited for.
    public var rounds: Int
    /// A download that is complete and on its way into the tree.
    public var landing: Landing?
    /// The changed file that a person has agreed to lose to this download, by its looks when that was agreed.
    public var overwrites: FileMark?
    /// Whether it is dropped when the policies of who asked no longer cover the item.
    public var whileCovered: Bool

    public init(
        _ record: SyncRecord, rounds: Int = 0, landing: Landing? = nil, overwrites: FileMark? = nil,
        whileCovered: Bool = false
    ) {
        self.record = record
        self.rounds = rounds
        self.landing = landing
        self.overwrites = overwrites
        self.whileCovered = whileCovered
    }

    public var id: Int64 { record.id }
}

/// What is known of a complete download before it is put in place, so that its file is known again after a crash.
public struct Landing: Hashable, Sendable {
    /// The version whose bytes these are.
    public var etag: ETag
    /// SHA-256, 32 bytes.
    public var digest: [UInt8]
    /// In bytes.
    public var size: Int64
    /// The server's modification time, which the copy gets.
    public var modified: Timestamp?

    public init(etag: ETag, digest: [UInt8], size: Int64, modified: Timestamp?) {
        self.etag = etag
        self.digest = digest
        self.size = size
        self.modified = modified
    }
}

extension DatabaseReads {
    public func syncRecord(id: Int64) throws -> JournalRecord? {
        try firstSyncRecord(SyncRecordQuery.withID, [.integer(id)])
    }

    /// The record of a request that was made before and is not done yet.
    public func syncRecord(reason: DownloadTrigger, key: String) throws -> JournalRecord? {
        try firstSyncRecord(SyncRecordQuery.withKey, [.text(reason.text), .text(key)])
    }

    /// The records of an item, in the order in which they are done.
    public func syncRecords(of item: LocalID) throws -> [JournalRecord] {
        var records: [JournalRecord] = []
        try eachSyncRecord(SyncRecordQuery.ofItem, [.text(item.text)]) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Reads all records in the order in which they are done.
    /// - Parameters:
    ///   - id: Begins behind this record; 0: at the first.
    ///   - body: Returns false to end early.
    public func eachSyncRecord(after id: Int64 = 0, _ body: (JournalRecord) throws -> Bool) throws {
        try eachSyncRecord(SyncRecordQuery.after, [.integer(id)], body)
    }

    /// Reads the records of all that is no download, in the order in which they are done. Costs nothing for the downloads between.
    /// - Parameters:
    ///   - id: Begins behind this record.
    ///   - body: Returns false to end early.
    public func eachRemovalRecord(after id: Int64, _ body: (JournalRecord) throws -> Bool) throws {
        try eachSyncRecord(SyncRecordQuery.removalsAfter, [.integer(id)], body)
    }

    /// Downloads that were complete and on their way into the tree.
    public func landingRecords() throws -> [JournalRecord] {
        var records: [JournalRecord] = []
        try eachSyncRecord(SyncRecordQuery.landing, []) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// How many records are in each state; states without any are left out.
    public func syncRecordCounts() throws -> [SyncRecord.State: Int] {
        let statement = try RawStatement(db, "SELECT state, count(*) FROM syncRecords GROUP BY state")
        defer { statement.reset() }
        var counts: [SyncRecord.State: Int] = [:]
        while try statement.step() {
            guard let state = statement.integer(0).flatMap({ SyncRecord.State(rawValue: Int($0)) }) else { continue }
            counts[state] = Int(statement.integer(1) ?? 0)
        }
        return counts
    }

    /// How many records of a reason are under way or about to be: those that wait for a person, or for a time after `limit`, are
    /// not. Costs as much as there are records of the reason.
    public func liveSyncRecordCount(reason: DownloadTrigger, waitingUntil limit: Timestamp) throws -> Int {
        let isLive =
            "reason = ?1 AND state <> 4 AND waitIssue IS NULL AND waitPlace IS NULL AND (waitUntil IS NULL OR waitUntil <= ?2)"
        let statement = try RawStatement(
            db,
            """
            SELECT (SELECT count(*) FROM syncRecords WHERE key IS NOT NULL AND \(isLive))
              + (SELECT count(*) FROM syncRecords WHERE key IS NULL AND \(isLive))
            """)
        defer { statement.reset() }
        statement.bind([.text(reason.text), .integer(limit.nanoseconds)])
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }

    /// How many downloads the journal holds, and how many bytes their items have by the server's word.
    public func pendingDownloads() throws -> (files: Int, bytes: Int64) {
        let statement = try RawStatement(
            db,
            """
            SELECT count(*), total(items.size) FROM syncRecords JOIN items USING (localID)
            WHERE syncRecords.action = 'download' AND syncRecords.state IN (0, 1, 2) AND items.type = 0
            """)
        defer { statement.reset() }
        guard try statement.step() else { return (0, 0) }
        return (Int(statement.integer(0) ?? 0), statement.integer(1) ?? 0)
    }

    /// The id of the record that was journalled last, whether or not it is still there; 0 before the first.
    public func lastSyncRecordID() throws -> Int64 {
        let statement = try RawStatement(db, "SELECT seq FROM sqlite_sequence WHERE name = 'syncRecords'")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// The earliest time at which a waiting record may go on; nil if none waits for a time.
    public func earliestWait() throws -> Timestamp? {
        let statement = try RawStatement(db, "SELECT min(waitUntil) FROM syncRecords WHERE waitUntil IS NOT NULL")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0).map(Timestamp.init(nanoseconds:)) : nil
    }

    private func eachSyncRecord(
        _ sql: String, _ arguments: [SQLValue], _ body: (JournalRecord) throws -> Bool
    ) throws {
        let statement = try RawStatement(db, sql)
        defer { statement.reset() }
        statement.bind(arguments)
        while try statement.step() {
            guard let record = JournalRecord(statement) else {
                throw Failure(.internal, "The sync journal has a record that makes no sense")
            }
            guard try body(record) else { return }
        }
    }

    private func firstSyncRecord(_ sql: String, _ arguments: [SQLValue]) throws -> JournalRecord? {
        var found: JournalRecord?
        try eachSyncRecord(sql, arguments) { record in
            found = record
            return false
        }
        return found
    }
}

/// Made once: they are looked up by their text, for each record.
private enum SyncRecordQuery {
    static let withID = select("WHERE id = ?")
    static let withKey = select("WHERE reason = ? AND key = ?")
    static let ofItem = select("WHERE localID = ? ORDER BY id")
    static let after = select("WHERE id > ? ORDER BY id")
    static let removalsAfter = select(
        "INDEXED BY syncRecords_removals WHERE action <> 'download' AND id > ? ORDER BY id")
    static let landing = select("WHERE landingDigest IS NOT NULL ORDER BY id")

    private static func select(_ rest: String) -> String {
        "SELECT \(SyncRecordColumns.selection) FROM syncRecords \(rest)"
    }
}

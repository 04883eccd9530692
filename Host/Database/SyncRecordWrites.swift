import GRDB
public import Model

extension Transaction {
    private static let insertion: String = {
        let places = SyncRecordColumns.written.map { _ in "?" }.joined(separator: ", ")
        return "INSERT INTO syncRecords (\(SyncRecordColumns.written.joined(separator: ", "))) VALUES (\(places))"
    }()

    private static let replacement: String = {
        let columns = SyncRecordColumns.written.map { "\($0) = ?" }.joined(separator: ", ")
        return "UPDATE syncRecords SET \(columns) WHERE id = ?"
    }()

    /// Writes a new record behind all others.
    /// - Returns: the record with its id. Ids rise and are never used again.
    public func insert(_ record: JournalRecord) throws -> JournalRecord {
        let statement = try RawStatement(db, Self.insertion)
        record.bind(to: statement)
        try statement.run()
        noteRecordsChanged()
        var stored = record
        stored.record.id = db.lastInsertedRowID
        return stored
    }

    /// Writes all of a record's row.
    /// - Returns: whether there is such a record still.
    @discardableResult
    public func update(_ record: JournalRecord) throws -> Bool {
        let statement = try RawStatement(db, Self.replacement)
        record.bind(to: statement)
        statement.bind(Int32(SyncRecordColumns.written.count + 1), record.id)
        try statement.run()
        noteRecordsChanged()
        return db.changesCount > 0
    }

    /// Writes down that a record's download is complete and on its way into the tree.
    public func setLanding(_ landing: Landing, of id: Int64) throws {
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET state = 2, landingETag = ?, landingETagStrength = ?, landingDigest = ?, landingSize = ?,
              landingModified = ?
            WHERE id = ?
            """)
        statement.bind(1, landing.etag.opaque)
        statement.bind(2, Int64(landing.etag.strength.rawValue))
        statement.bind(3, landing.digest)
        statement.bind(4, landing.size)
        statement.bind(5, landing.modified?.nanoseconds)
        statement.bind(6, id)
        try statement.run()
        noteRecordsChanged()
    }

    /// Takes a record out of the journal; an issue about it goes with it.
    /// - Returns: whether there was such a record still.
    @discardableResult
    public func deleteSyncRecord(id: Int64) throws -> Bool { try takeSyncRecord(id: id) != nil }

    /// Takes a record out of the journal; an issue about it goes with it.
    /// - Returns: who asked for it; nil: there was no such record any more.
    public func takeSyncRecord(id: Int64) throws -> DownloadTrigger? {
        let issues = try RawStatement(db, "DELETE FROM issues WHERE record = ?")
        issues.bind(1, id)
        try issues.run()
        if db.changesCount > 0 { noteIssuesChanged() }
        let statement = try RawStatement(db, "DELETE FROM syncRecords WHERE id = ? RETURNING reason")
        defer { statement.reset() }
        statement.bind(1, id)
        var reason: DownloadTrigger?
        while try statement.step() { reason = DownloadTrigger(statement.text(0) ?? "") }
        noteRecordsChanged()
        return reason
    }

    /// Marks records that were started. Those that are gone or wait again are left out.
    public func markProcessing(_ ids: some Sequence<Int64>) throws {
        let statement = try RawStatement(
            db,
            "UPDATE syncRecords SET state = 2 WHERE id = ? AND state < 2 AND waitUntil IS NULL AND waitIssue IS NULL AND waitPlace IS NULL"
        )
        for id in ids {
            statement.bind(1, id)
            try statement.run()
        }
    }

    /// Makes records ready that were pending or being processed when a host ended: nothing of it is under way any more.
    /// - Returns: how many.
    public func makeStuckRecordsReady() throws -> Int {
        let statement = try RawStatement(db, "UPDATE syncRecords SET state = 1 WHERE state IN (0, 2)")
        try statement.run()
        return db.changesCount
    }

    /// Lets records go on whose time has come, and those for whose item there is other metadata than they were refused for.
    /// - Parameter longest: What waits for longer was written when the clock was another.
    /// - Returns: whether there were any.
    public func endFulfilledWaits(now: Timestamp, longest: Duration) throws -> Bool {
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET waitUntil = NULL, waitVersion = NULL, waitVersionStrength = NULL
            WHERE waitUntil IS NOT NULL AND waitIssue IS NULL AND (waitUntil <= ? OR waitUntil > ? OR (waitVersion IS NOT NULL AND NOT EXISTS (
              SELECT 1 FROM items WHERE items.localID = syncRecords.localID AND items.etag = syncRecords.waitVersion
                AND (items.etagStrength = 2) = (syncRecords.waitVersionStrength = 2))))
            """)
        statement.bind([.integer(now.nanoseconds), .integer((now + longest).nanoseconds)])
        try statement.run()
        return db.changesCount > 0
    }

    /// Lets records of a reason wait that would be more than may be under way: those behind the others, and none that was started.
    /// - Parameters:
    ///   - most: how many may be.
    ///   - time: until when.
    public func holdSyncRecords(of reason: DownloadTrigger, beyond most: Int, until time: Timestamp) throws {
        let isReady = "reason = ?1 AND state <> 4 AND waitUntil IS NULL AND waitIssue IS NULL AND waitPlace IS NULL"
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET waitUntil = ?3 WHERE state <> 2 AND landingDigest IS NULL AND id IN (
              SELECT id FROM (
                SELECT id, state = 2 OR landingDigest IS NOT NULL AS isUnderWay FROM syncRecords WHERE key IS NOT NULL AND \(isReady)
                UNION ALL
                SELECT id, state = 2 OR landingDigest IS NOT NULL FROM syncRecords WHERE key IS NULL AND \(isReady))
              ORDER BY isUnderWay DESC, id LIMIT -1 OFFSET ?2)
            """)
        statement.bind([.text(reason.text), .integer(Int64(most)), .integer(time.nanoseconds)])
        try statement.run()
    }
}

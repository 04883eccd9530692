public import Model

/// The sync engine's journal: what was asked for and is not done.
public struct JournalTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Reads a record; nil if there is none with this id.
    /// - Throws: `.internal` if a record makes no sense, or SQLite's error; see ``DatabaseReads``.
    public func record(id: SyncRecordID) throws -> SyncRecord? {
        try first(SyncRecordQuery.withID, [.id(id)])
    }

    /// The record of a request that was made before and is not done yet.
    /// - Throws: As ``record(id:)``.
    public func record(reason: DownloadTrigger, key: String) throws -> SyncRecord? {
        try first(SyncRecordQuery.withKey, [.text(reason.text), .text(key)])
    }

    /// The records of an item, in the order in which they are done.
    /// - Throws: As ``record(id:)``.
    public func records(of item: LocalID) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        try each(SyncRecordQuery.ofItem, [.text(item.text)]) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Reads all records in the order in which they are done.
    /// - Parameters:
    ///   - id: Begins behind this record; 0: at the first.
    ///   - body: Returns false to end early.
    /// - Throws: What `body` throws, and as ``record(id:)``.
    public func each(after id: SyncRecordID = .none, _ body: (SyncRecord) throws -> Bool) throws {
        try each(SyncRecordQuery.after, [.id(id)], body)
    }

    /// Reads the records of all that is no download, in the order in which they are done. Costs nothing for the downloads between.
    /// - Parameters:
    ///   - id: Begins behind this record.
    ///   - body: Returns false to end early.
    /// - Throws: What `body` throws, and as ``record(id:)``.
    public func eachRemoval(after id: SyncRecordID, _ body: (SyncRecord) throws -> Bool) throws {
        try each(SyncRecordQuery.removalsAfter, [.id(id)], body)
    }

    /// Downloads that were complete and on their way into the tree.
    /// - Throws: As ``record(id:)``.
    public func landing() throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        try each(SyncRecordQuery.landing, []) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// How many records are in each state; states without any are left out.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func counts() throws -> [SyncRecord.State: Int] {
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
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func liveCount(reason: DownloadTrigger, waitingUntil limit: Timestamp) throws -> Int {
        let isLive =
            "reason = ?1 AND state <> \(State.failed.sql) AND waitIssue IS NULL AND waitPlace IS NULL AND (waitUntil IS NULL OR waitUntil <= ?2)"
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
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func pendingDownloads() throws -> (files: Int, bytes: Int64) {
        let statement = try RawStatement(
            db,
            """
            SELECT count(*), total(items.size) FROM syncRecords JOIN items USING (localID)
            WHERE syncRecords.action = '\(SyncRecord.Action.Kind.download.rawValue)' AND items.type = \(Item.Kind.file.sql)
              AND syncRecords.state IN (\(State.pending.sql), \(State.ready.sql), \(State.processing.sql))
            """)
        defer { statement.reset() }
        guard try statement.step() else { return (0, 0) }
        return (Int(statement.integer(0) ?? 0), statement.integer(1) ?? 0)
    }

    /// The id of the record that was journalled last, whether or not it is still there; 0 before the first.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func lastID() throws -> SyncRecordID {
        let statement = try RawStatement(db, "SELECT seq FROM sqlite_sequence WHERE name = 'syncRecords'")
        defer { statement.reset() }
        return try statement.step() ? statement.id(0) : .none
    }

    /// The earliest time at which a waiting record may go on; nil if none waits for a time.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func earliestWait() throws -> Timestamp? {
        let statement = try RawStatement(db, "SELECT min(waitUntil) FROM syncRecords WHERE waitUntil IS NOT NULL")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0).map(Timestamp.init(nanoseconds:)) : nil
    }

    /// The items that the sync engine is putting in place: their files are its own until it is done.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func landingItems() throws -> Set<LocalID> {
        let statement = try RawStatement(db, "SELECT localID FROM syncRecords WHERE landingDigest IS NOT NULL")
        defer { statement.reset() }
        var items: Set<LocalID> = []
        while try statement.step() { items.insert(LocalID(statement.text(0) ?? "")) }
        return items
    }

    /// Whether the sync engine is putting this item's file in place.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    package func isLanding(_ item: LocalID) throws -> Bool {
        let statement = try RawStatement(
            db, "SELECT 1 FROM syncRecords WHERE localID = ? AND landingDigest IS NOT NULL LIMIT 1")
        defer { statement.reset() }
        statement.bind(1, item.text)
        return try statement.step()
    }

    private func each(
        _ sql: String, _ arguments: [SQLValue], _ body: (SyncRecord) throws -> Bool
    ) throws {
        let statement = try RawStatement(db, sql)
        defer { statement.reset() }
        statement.bind(arguments)
        while try statement.step() {
            guard let record = SyncRecord(statement) else {
                throw Failure(.internal, "The sync journal has a record that makes no sense")
            }
            guard try body(record) else { return }
        }
    }

    private func first(_ sql: String, _ arguments: [SQLValue]) throws -> SyncRecord? {
        var found: SyncRecord?
        try each(sql, arguments) { record in
            found = record
            return false
        }
        return found
    }
}

extension DatabaseReads {
    /// The sync engine's journal: what was asked for and is not done.
    public var journal: JournalTable<Self> { JournalTable(access: self) }
}

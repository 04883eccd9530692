public import Model

/// The sync engine's journal: the requested actions that are not yet done.
public struct JournalTable<Access: DatabaseReads>: Table {
    let access: Access

    /// Returns a record; nil if there is none with this id.
    /// - Throws: `.internal` if a record makes no sense.
    public func record(id: SyncRecordID) throws -> SyncRecord? {
        try first(SyncRecordQuery.withID, [.id(id)])
    }

    /// Returns the record of a request that was made before and is not yet done.
    /// - Throws: The errors of ``record(id:)``.
    public func record(reason: DownloadTrigger, key: String) throws -> SyncRecord? {
        try first(SyncRecordQuery.withKey, [.text(reason.text), .text(key)])
    }

    /// Returns the records of an item, in the order in which they are carried out.
    /// - Throws: The errors of ``record(id:)``.
    public func records(of item: LocalID) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        try each(SyncRecordQuery.ofItem, [.text(item.text)]) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Returns the records that wait for an answer to an issue, in the order in which they are carried out.
    /// - Throws: The errors of ``record(id:)``.
    public func waiting(forIssue id: IssueID) throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        try each(SyncRecordQuery.waitingForIssue, [.id(id)]) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Reads all records in the order in which they are carried out.
    /// - Parameters:
    ///   - id: The record after which the reading begins; 0 to begin with the first record.
    ///   - body: A function that receives each record and returns false to end early.
    /// - Throws: What `body` throws, and the errors of ``record(id:)``.
    public func each(after id: SyncRecordID = .none, _ body: (SyncRecord) throws -> Bool) throws {
        try each(SyncRecordQuery.after, [.id(id)], body)
    }

    /// Reads the records of removals, in the order in which they are carried out. The downloads between them cost
    /// nothing.
    /// - Parameters:
    ///   - id: The record after which the reading begins.
    ///   - body: A function that receives each record and returns false to end early.
    /// - Throws: What `body` throws, and the errors of ``record(id:)``.
    public func eachRemoval(after id: SyncRecordID, _ body: (SyncRecord) throws -> Bool) throws {
        try each(SyncRecordQuery.removalsAfter, [.id(id)], body)
    }

    /// Returns those of certain records that are in the journal, in its order.
    /// - Throws: The errors of ``record(id:)``.
    public func records(_ ids: some Sequence<SyncRecordID>) throws -> [SyncRecord] {
        try records(SyncRecordQuery.withIDs, [.text(Self.list(ids))])
    }

    /// Returns the records of downloads that are complete and about to be put into the tree.
    /// - Throws: The errors of ``record(id:)``.
    public func landing() throws -> [SyncRecord] {
        var records: [SyncRecord] = []
        try each(SyncRecordQuery.landing, []) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Returns the number of records. SQLite counts the entries of an index for it, and reads no record.
    public func count() throws -> Int { Int(try integer("SELECT count(*) FROM syncRecords") ?? 0) }

    /// Returns the number of records in each state, as ``SyncRecord/toldState`` has it. States without records are left
    /// out. In a long journal nearly all records are ready and wait for nothing. SQLite counts these by indexes, and for
    /// the others reads the few columns that tell them, without sorting.
    public func counts() throws -> [SyncRecord.State: Int] {
        let others = SyncRecord.State.allCases.filter { $0 != .ready }.map(\.sql).joined(separator: ", ")
        let shifts = try rows(
            """
            SELECT \(State.ready.sql), state, count(*) FROM syncRecords WHERE state IN (\(others)) GROUP BY state
            UNION ALL
            SELECT state, CASE WHEN waitIssue IS NOT NULL AND waitUntil IS NULL THEN \(State.failed.sql)
                WHEN waitUntil IS NOT NULL OR waitPlace IS NOT NULL THEN \(State.pending.sql)
                ELSE \(State.completed.sql) END AS told, count(*)
            FROM syncRecords NOT INDEXED
            WHERE coalesce(waitIssue, waitUntil, waitPlace, landingDigest) IS NOT NULL GROUP BY state, told
            """
        ) { (from: State($0.integer(0)), to: State($0.integer(1)), count: Int($0.integer(2) ?? 0)) }
        var counts: [SyncRecord.State: Int] = [.ready: try count()]
        for shift in shifts {
            if let from = shift.from { counts[from, default: 0] -= shift.count }
            if let to = shift.to { counts[to, default: 0] += shift.count }
        }
        return counts.filter { $0.value > 0 }
    }

    /// Returns the number of records of a reason that are under way or about to be. Records that wait for a person, for
    /// their path, or for a time after `limit` do not count. The cost grows with the number of records of the reason.
    public func liveCount(reason: DownloadTrigger, waitingUntil limit: Timestamp) throws -> Int {
        let isLive =
            "reason = ?1 AND state <> \(State.failed.sql) AND waitIssue IS NULL AND waitPlace IS NULL "
            + "AND (waitUntil IS NULL OR waitUntil <= ?2)"
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

    /// Returns the number of downloads and uploads of files in the journal, except failed ones, and the bytes of these
    /// files according to the server.
    public func pendingTransfers() throws -> (files: Int, bytes: Int64) {
        let statement = try RawStatement(
            db,
            """
            SELECT count(*), total(items.size) FROM syncRecords JOIN items USING (localID)
            WHERE syncRecords.action IN ('\(SyncRecord.Action.Kind.download.rawValue)',
                '\(SyncRecord.Action.Kind.upload.rawValue)')
              AND items.type = \(Item.Kind.file.sql)
              AND syncRecords.state IN (\(State.pending.sql), \(State.ready.sql), \(State.processing.sql))
            """)
        defer { statement.reset() }
        guard try statement.step() else { return (0, 0) }
        return (Int(statement.integer(0) ?? 0), statement.integer(1) ?? 0)
    }

    /// Returns the id of the record that was added last, whether or not the record still exists; 0 before the first
    /// record.
    public func lastID() throws -> SyncRecordID {
        let statement = try RawStatement(db, "SELECT seq FROM sqlite_sequence WHERE name = 'syncRecords'")
        defer { statement.reset() }
        return try statement.step() ? statement.id(0) : .none
    }

    /// Returns the number of records that were added after another one and are in the journal.
    public func count(after id: SyncRecordID) throws -> Int {
        Int(try integer("SELECT count(*) FROM syncRecords WHERE id > ?", .id(id)) ?? 0)
    }

    /// Returns the earliest time at which a waiting record may go on; nil if no record waits for a time.
    public func earliestWait() throws -> Timestamp? {
        let statement = try RawStatement(db, "SELECT min(waitUntil) FROM syncRecords WHERE waitUntil IS NOT NULL")
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0).map(Timestamp.init(nanoseconds:)) : nil
    }

    /// Returns the items that the sync engine is putting in place. Their files belong to the sync engine until it is
    /// done.
    package func landingItems() throws -> Set<LocalID> {
        let statement = try RawStatement(db, "SELECT localID FROM syncRecords WHERE landingDigest IS NOT NULL")
        defer { statement.reset() }
        var items: Set<LocalID> = []
        while try statement.step() { items.insert(LocalID(statement.text(0) ?? "")) }
        return items
    }

    /// Tells whether the sync engine is putting this item's file in place.
    package func isLanding(_ item: LocalID) throws -> Bool {
        let statement = try RawStatement(
            db, "SELECT 1 FROM syncRecords WHERE localID = ? AND landingDigest IS NOT NULL LIMIT 1")
        defer { statement.reset() }
        statement.bind(1, item.text)
        return try statement.step()
    }

    func each(
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
    /// The sync engine's journal: the requested actions that are not yet done.
    public var journal: JournalTable<Self> { JournalTable(access: self) }
}

extension SyncRecord.State {
    fileprivate init?(_ number: Int64?) {
        guard let state = number.flatMap({ SyncRecord.State(rawValue: Int($0)) }) else { return nil }
        self = state
    }
}

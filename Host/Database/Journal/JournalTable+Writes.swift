public import Model

/// The writes that concern the journal.
extension JournalTable where Access == Transaction {
    /// Adds a new record after all others.
    /// - Returns: The record with its id. Ids rise and are never used again.
    public func insert(_ record: SyncRecord) throws -> SyncRecord {
        let statement = try RawStatement(db, JournalSQL.insertion)
        record.bind(to: statement)
        try statement.run()
        access.noteRecordsChanged()
        var stored = record
        stored.id = insertedID()
        try insertPlaces(of: stored)
        return stored
    }

    /// Writes all of a record's row. A record that changes nothing on the server any more loses its pending places; the
    /// places of others stay as they are.
    /// - Returns: Whether the record still existed.
    @discardableResult
    public func update(_ record: SyncRecord) throws -> Bool {
        let statement = try RawStatement(db, JournalSQL.replacement)
        record.bind(to: statement)
        statement.bind(Int32(SyncRecordColumns.written.count + 1), record.id)
        try statement.run()
        let isThere = changedRows > 0
        access.noteRecordsChanged()
        if record.wait != nil { access.noteRest(of: record.id) }
        if try isThere && hasPlaces(record.id) && record.places.isEmpty { try deletePlaces(of: record.id) }
        return isThere
    }

    /// Writes all of a record's row, and its pending places anew, after the record has come to be about another item.
    public func replace(_ record: SyncRecord) throws {
        guard try update(record) else { return }
        try deletePlaces(of: record.id)
        try insertPlaces(of: record)
    }

    /// Records that a record's download is complete and about to be put into the tree.
    public func setLanding(_ landing: Landing, of id: SyncRecordID) throws {
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET state = \(State.processing.sql), landingETag = ?, landingETagStrength = ?,
              landingDigest = ?, landingSize = ?, landingModified = ?
            WHERE id = ?
            """)
        statement.bind(1, landing.etag.opaque)
        statement.bind(2, Int64(landing.etag.strength.rawValue))
        statement.bind(3, landing.digest)
        statement.bind(4, landing.size)
        statement.bind(5, landing.modified?.nanoseconds)
        statement.bind(6, id)
        try statement.run()
        access.noteRecordsChanged()
    }

    /// Removes a record from the journal, together with an issue about it.
    /// - Returns: Whether the record still existed.
    @discardableResult
    public func delete(id: SyncRecordID) throws -> Bool { try take(id: id) != nil }

    /// Removes a record from the journal, together with an issue about it.
    /// - Returns: The record's reason, and its `whileCovered`; nil if the record no longer existed.
    public func take(id: SyncRecordID) throws -> (reason: DownloadTrigger, whileCovered: Bool)? {
        let issues = try RawStatement(db, "DELETE FROM issues WHERE record = ?")
        issues.bind(1, id)
        try issues.run()
        if changedRows > 0 { access.noteIssuesChanged() }
        try deletePlaces(of: id)
        let statement = try RawStatement(db, "DELETE FROM syncRecords WHERE id = ? RETURNING reason, whileCovered")
        defer { statement.reset() }
        statement.bind(1, id)
        var taken: (reason: DownloadTrigger, whileCovered: Bool)?
        while try statement.step() {
            taken = (DownloadTrigger(statement.text(0) ?? ""), statement.integer(1) == 1)
        }
        access.noteRecordsChanged()
        access.noteRest(of: id)
        return taken
    }

    /// Marks a change as sent: it may have arrived at the server from now on.
    public func markSent(_ id: SyncRecordID) throws {
        let statement = try RawStatement(
            db, "UPDATE syncRecords SET state = \(State.processing.sql), mayHaveArrived = 1 WHERE id = ?")
        statement.bind(1, id)
        try statement.run()
        access.noteRecordsChanged()
    }

    /// Marks records as started. Records that no longer exist, or that wait again, are left out.
    public func markProcessing(_ ids: some Sequence<SyncRecordID>) throws {
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET state = \(State.processing.sql)
            WHERE id = ? AND state IN (\(State.pending.sql), \(State.ready.sql))
              AND waitUntil IS NULL AND waitIssue IS NULL AND waitPlace IS NULL
            """)
        for id in ids {
            statement.bind(1, id)
            try statement.run()
        }
    }

    /// Makes records ready that were pending or being processed when a host ended. No work on them is under way any
    /// more.
    /// - Returns: The number of records.
    public func makeStuckReady() throws -> Int {
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET state = \(State.ready.sql)
            WHERE state IN (\(State.pending.sql), \(State.processing.sql))
            """)
        try statement.run()
        return changedRows
    }

    /// Ends the waits of records whose time has come, and of records whose item has other metadata than those for which
    /// the server refused the request. An issue that tells of failures before a next try stays.
    /// - Parameter longest: The longest possible wait. A longer wait was written when the clock showed another time,
    ///   and ends too.
    /// - Returns: Whether any wait ended.
    public func endFulfilledWaits(now: Timestamp, longest: Duration) throws -> Bool {
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET waitUntil = NULL, waitVersion = NULL, waitVersionStrength = NULL, waitIssue = NULL
            WHERE waitUntil IS NOT NULL
              AND (waitUntil <= ? OR waitUntil > ? OR (waitVersion IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM items WHERE items.localID = syncRecords.localID AND items.etag = syncRecords.waitVersion
                  AND (items.etagStrength = \(ETag.Strength.substitute.sql))
                    = (syncRecords.waitVersionStrength = \(ETag.Strength.substitute.sql)))))
            """)
        statement.bind([.integer(now.nanoseconds), .integer((now + longest).nanoseconds)])
        try statement.run()
        guard changedRows > 0 else { return false }
        access.noteLogged()
        return true
    }

    /// Makes records of a reason wait if more of them are ready or under way than may be. The last records wait, and no
    /// record that was started.
    /// - Parameters:
    ///   - most: The number of records that may be ready or under way.
    ///   - time: The time until which the other records wait.
    public func hold(of reason: DownloadTrigger, beyond most: Int, until time: Timestamp) throws {
        let isReady =
            "reason = ?1 AND state <> \(State.failed.sql) AND waitUntil IS NULL "
            + "AND waitIssue IS NULL AND waitPlace IS NULL"
        let statement = try RawStatement(
            db,
            """
            UPDATE syncRecords SET waitUntil = ?3
            WHERE state <> \(State.processing.sql) AND landingDigest IS NULL AND id IN (
              SELECT id FROM (
                SELECT id, state = \(State.processing.sql) OR landingDigest IS NOT NULL AS isUnderWay
                FROM syncRecords WHERE key IS NOT NULL AND \(isReady)
                UNION ALL
                SELECT id, state = \(State.processing.sql) OR landingDigest IS NOT NULL
                FROM syncRecords WHERE key IS NULL AND \(isReady))
              ORDER BY isUnderWay DESC, id LIMIT -1 OFFSET ?2)
            """)
        statement.bind([.text(reason.text), .integer(Int64(most)), .integer(time.nanoseconds)])
        try statement.run()
    }

    /// Ends the waits of records that wait with an issue. The issue stays.
    public func endWaits(forIssue id: IssueID) throws {
        let statement = try RawStatement(
            db, "UPDATE syncRecords SET waitIssue = NULL, waitUntil = 0 WHERE waitIssue = ?")
        statement.bind(1, id)
        try statement.run()
        if changedRows > 0 { access.noteRecordsChanged() }
    }

    /// Ends the waits of an item's records for their next try: what failed may succeed with what the server has now.
    func endRetries(of localID: LocalID) throws {
        try run(
            "UPDATE syncRecords SET waitUntil = 0 WHERE localID = ? AND waitIssue IS NOT NULL AND waitUntil IS NOT NULL",
            .text(localID.text))
        if changedRows > 0 { access.noteRecordsChanged() }
    }

    /// Ends the waits of records whose path was obstructed: the obstacle may have gone, or its removal may have been
    /// decided.
    public func endPlaceWaits() throws {
        let statement = try RawStatement(
            db, "UPDATE syncRecords SET waitUntil = 0, waitPlace = NULL WHERE waitPlace IS NOT NULL")
        try statement.run()
        if changedRows > 0 { access.noteRecordsChanged() }
    }
}

/// The writes that make the journal follow the items.
extension JournalTable where Access == Transaction {
    /// Changes the path of an item's records after the item has moved on the server.
    func setPath(_ path: ItemPath, of localID: LocalID) throws {
        try run("UPDATE syncRecords SET path = ? WHERE localID = ?", .path(path), .text(localID.text))
        try run(
            """
            UPDATE pendingPlaces SET path = ?, parentPath = ?
            WHERE change <> \(PendingPlace.Change.arrives.sql)
              AND record IN (SELECT id FROM syncRecords WHERE localID = ? AND \(SyncRecordQuery.changesServer))
            """, .path(path), .path(path.parent), .text(localID.text))
    }

    /// Changes the paths of the records below a folder after the folder has moved on the server and the rows have their
    /// new paths.
    /// - Parameter alone: Whether only the records of rows that are below the new path move.
    func movePaths(below old: ItemPath, to new: ItemPath, alone: Bool) throws {
        let isConcerned = (
            sql: "(NOT ? OR localID IN (SELECT localID FROM items WHERE \(ItemSQL.isBelow)))",
            arguments: [.flag(alone)] + ItemSQL.bounds(below: new)
        )
        try movePlaces(from: old, to: new, ofRecords: isConcerned)
        let moved = MovedPath(from: old, to: new, column: "path")
        try run(
            "UPDATE syncRecords SET path = \(moved.sql) WHERE \(ItemSQL.isInRange) AND \(isConcerned.sql)",
            moved.arguments + ItemSQL.range(below: old) + isConcerned.arguments)
    }
}

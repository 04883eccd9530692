public import Model

/// The writes that concern records.
extension RecordTable where Access == Transaction {
    /// Stores a record and replaces any with its key. An equal record is left alone.
    /// - Returns: Whether the record was added or changed; nil if an equal record was stored already.
    /// - Throws: `.badData` if the value is no JSON object.
    @discardableResult
    public func put(_ record: Model.Record, in collection: RecordCollection) throws -> RecordEvent? {
        let known = try comparison(with: record, in: collection)
        guard known.isJSON else {
            throw Failure(
                .badData, "The record \(record.key) of \(collection) has a value that is not a JSON object",
                hint: "Its plugin must store an object, or no value")
        }
        guard known.exists else {
            let statement = try RawStatement(
                db, "INSERT INTO records (collection, key, version, value, contentID) VALUES (?, ?, ?, ?, ?)")
            let content = try record.content.map { try SQLValue.id(storeContent($0)) } ?? .null
            statement.bind(
                [.text(collection.text), .text(record.key.text), .text(record.version), .text(record.value), content])
            try statement.run()
            access.noteChange(of: collection)
            try noteCalendar(record.key, in: collection)
            return .added
        }
        guard !known.isSame || !known.hasSameContent else { return nil }
        let statement = try RawStatement(
            db, "UPDATE records SET version = ?, value = ? WHERE collection = ? AND key = ?")
        statement.bind([.text(record.version), .text(record.value), .text(collection.text), .text(record.key.text)])
        try statement.run()
        if !known.hasSameContent {
            let content = try record.content.map { try SQLValue.id(storeContent($0)) } ?? .null
            let statement = try RawStatement(db, "UPDATE records SET contentID = ? WHERE collection = ? AND key = ?")
            statement.bind([content, .text(collection.text), .text(record.key.text)])
            try statement.run()
        }
        access.noteChange(of: collection)
        try noteCalendar(record.key, in: collection)
        return .changed
    }

    /// Removes a record together with the collection of the records that belong to it.
    /// - Returns: Whether there was such a record.
    @discardableResult
    public func remove(_ key: RecordKey, from collection: RecordCollection) throws -> Bool {
        let statement = try RawStatement(db, "DELETE FROM records WHERE collection = ? AND key = ?")
        statement.bind([.text(collection.text), .text(key.text)])
        try statement.run()
        let hasGone = changedRows > 0
        // No records belong to a record that itself belongs to another: their collection's name would also be another
        // collection's.
        let hadMore = try collection.isRoot && removeAll(in: collection.of(key))
        guard hasGone || hadMore else { return false }
        access.noteChange(of: collection)
        try noteCalendar(key, in: collection)
        return hasGone
    }

    /// Removes all records of a collection.
    /// - Returns: Whether there were any.
    @discardableResult
    func removeAll(in collection: RecordCollection) throws -> Bool {
        let statement = try RawStatement(db, "DELETE FROM records WHERE collection = ?")
        statement.bind(1, collection.text)
        try statement.run()
        return changedRows > 0
    }

    private func comparison(
        with record: Model.Record, in collection: RecordCollection
    ) throws -> (exists: Bool, isSame: Bool, hasSameContent: Bool, isJSON: Bool) {
        let statement = try RawStatement(
            db,
            """
            SELECT CASE WHEN ?1 = '' THEN 1 WHEN json_valid(?1) THEN json_type(?1) = 'object' ELSE 0 END,
              records.key IS NOT NULL, version IS ?2 AND value IS ?1, content IS ?3
            FROM (SELECT 1) LEFT JOIN records ON collection = ?4 AND key = ?5
              LEFT JOIN recordContents ON recordContents.id = contentID
            """)
        defer { statement.reset() }
        statement.bind(1, record.value)
        statement.bind(2, record.version)
        statement.bind(3, record.content)
        statement.bind(4, collection.text)
        statement.bind(5, record.key.text)
        guard try statement.step() else { return (false, false, false, false) }
        return (
            statement.integer(1) == 1, statement.integer(2) == 1, statement.integer(3) == 1, statement.integer(0) == 1
        )
    }

    private func storeContent(_ content: [UInt8]) throws -> CalendarContentID {
        let statement = try RawStatement(db, "INSERT INTO recordContents (content) VALUES (?)")
        statement.bind(1, content)
        try statement.run()
        return insertedID()
    }

    /// Queues a calendar's record, since the files beside the database are written after the commit.
    private func noteCalendar(_ key: RecordKey, in collection: RecordCollection) throws {
        guard collection == .calendars || collection.text.utf8.starts(with: "calendars/".utf8) else { return }
        let statement = try RawStatement(db, "INSERT OR REPLACE INTO calendarChanges (collection, key) VALUES (?, ?)")
        statement.bind([.text(collection.text), .text(key.text)])
        try statement.run()
    }

    /// Holds these records for a loop, instead of all that were held for it before.
    public func hold(_ places: some Sequence<RecordPlace>, for loop: String) throws {
        try endHold(for: loop)
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO heldRecords (collection, key, loop) VALUES (?, ?, ?)")
        for place in places {
            statement.bind([.text(place.collection.text), .text(place.key.text), .text(loop)])
            try statement.run()
        }
    }

    /// Ends the hold of a loop's records and removes its issue.
    public func endHold(of loop: String) throws {
        try endHold(for: loop)
        try access.issues.remove(code: HeldRecords.code, subject: loop)
    }

    private func endHold(for loop: String) throws {
        let statement = try RawStatement(db, "DELETE FROM heldRecords WHERE loop = ?")
        statement.bind(1, loop)
        try statement.run()
    }

    /// Remembers how many of a collection's records were removed without a person's confirmation, and how many records
    /// there were.
    public func noteRemovals(_ gone: Int, of known: Int, in collection: RecordCollection, at time: Timestamp) throws {
        let minute = time.seconds / 60
        let statement = try RawStatement(
            db,
            """
            INSERT INTO recordRemovals (collection, minute, known, gone) VALUES (?, ?, ?, ?)
            ON CONFLICT (collection, minute) DO UPDATE SET known = max(known, excluded.known), gone = gone + \
            excluded.gone
            """)
        statement.bind([
            .text(collection.text), .integer(minute), .integer(Int64(known)), .integer(Int64(gone)),
        ])
        try statement.run()
        let old = try RawStatement(db, "DELETE FROM recordRemovals WHERE minute <= ?")
        old.bind([.integer(minute - minutesOfDay)])
        try old.run()
    }
}

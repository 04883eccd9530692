import GRDB
public import Model

/// A record in its collection.
public struct RecordPlace: Hashable, Sendable {
    public var collection: RecordCollection
    public var key: RecordKey

    public init(_ collection: RecordCollection, _ key: RecordKey) { (self.collection, self.key) = (collection, key) }
}

/// Records of calendars whose removal waits for a person: an issue for each loop that asked for it.
public enum HeldRecords {
    public static let code = "calendar.removals"
}

private let minutesOfDay: Int64 = 24 * 60

extension DatabaseReads {
    /// What waits with a loop's issue.
    /// - Parameter loop: as the issue's subject names it.
    public func heldRecords(of loop: String) throws -> [RecordPlace] {
        let statement = try RawStatement(
            db, "SELECT collection, key FROM heldRecords WHERE loop = ? ORDER BY collection, key")
        defer { statement.reset() }
        statement.bind(1, loop)
        var places: [RecordPlace] = []
        while try statement.step() {
            places.append(
                RecordPlace(RecordCollection(statement.text(0) ?? ""), RecordKey(statement.text(1) ?? "")))
        }
        return places
    }

    /// The highest count of a collection's records in the 24 hours before a time, as far as some went, and how many went in these, but
    /// for what a person applied.
    public func recordRemovals(in collection: RecordCollection, at time: Timestamp) throws -> (known: Int, gone: Int) {
        let statement = try RawStatement(
            db, "SELECT max(known), sum(gone) FROM recordRemovals WHERE collection = ? AND minute > ?")
        defer { statement.reset() }
        statement.bind([.text(collection.text), .integer(time.seconds / 60 - minutesOfDay)])
        guard try statement.step() else { return (0, 0) }
        return (statement.count(0), statement.count(1))
    }
}

extension Transaction {
    /// Holds these records for a loop, and no others.
    public func hold(_ places: some Sequence<RecordPlace>, for loop: String) throws {
        try endHold(for: loop)
        let statement = try RawStatement(
            db, "INSERT OR REPLACE INTO heldRecords (collection, key, loop) VALUES (?, ?, ?)")
        for place in places {
            statement.bind([.text(place.collection.text), .text(place.key.text), .text(loop)])
            try statement.run()
        }
    }

    /// A loop has nothing held any more: takes its issue away too.
    public func endHold(of loop: String) throws {
        try endHold(for: loop)
        try deleteIssue(code: HeldRecords.code, subject: loop)
    }

    private func endHold(for loop: String) throws {
        let statement = try RawStatement(db, "DELETE FROM heldRecords WHERE loop = ?")
        statement.bind(1, loop)
        try statement.run()
    }

    /// So many of a collection's records went without a person's word, of so many that there were.
    public func noteRemovals(_ gone: Int, of known: Int, in collection: RecordCollection, at time: Timestamp) throws {
        let minute = time.seconds / 60
        let statement = try RawStatement(
            db,
            """
            INSERT INTO recordRemovals (collection, minute, known, gone) VALUES (?, ?, ?, ?)
            ON CONFLICT (collection, minute) DO UPDATE SET known = max(known, excluded.known), gone = gone + excluded.gone
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

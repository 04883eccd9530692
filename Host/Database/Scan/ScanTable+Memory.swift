import GRDB
public import Model

let minutesOfDay: Int64 = 24 * 60

/// What the guard against mass removal remembers of the last 24 hours, to the minute: two scans that take a half each take the whole.
extension DatabaseReads {
    public func hasRemovalMemory() throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM removalMemory WHERE known IS NOT NULL)"
        return try Bool.fetchOne(db.cachedStatement(sql: sql)) ?? false
    }

    /// The highest count of items in the 24 hours before a time, and how many went in these, but for what a person applied.
    public func removalMemory(at time: Timestamp) throws -> (known: Int, gone: Int) {
        let begin = time.seconds / 60 - minutesOfDay
        // A count holds until the next.
        let known = """
            SELECT max(known) FROM removalMemory WHERE minute >= coalesce(
              (SELECT max(minute) FROM removalMemory WHERE minute <= ?1 AND known IS NOT NULL), ?1)
            """
        let gone = "SELECT sum(gone) FROM removalMemory WHERE minute > ?1"
        return (
            try Int.fetchOne(db.cachedStatement(sql: known), arguments: [begin]) ?? 0,
            try Int.fetchOne(db.cachedStatement(sql: gone), arguments: [begin]) ?? 0
        )
    }
}

extension Transaction {
    /// There were so many items.
    public func noteKnown(_ count: Int, at time: Timestamp) throws {
        try remember(known: count, gone: 0, at: time)
    }

    /// So many went without a person's word.
    public func noteGone(_ count: Int, at time: Timestamp) throws {
        try remember(known: nil, gone: count, at: time)
    }

    private func remember(known: Int?, gone: Int, at time: Timestamp) throws {
        let minute = time.seconds / 60
        try db.cachedStatement(
            sql: """
                INSERT INTO removalMemory (minute, known, gone) VALUES (?, ?, ?) ON CONFLICT (minute) DO UPDATE SET
                  known = max(coalesce(known, 0), coalesce(excluded.known, known, 0)), gone = gone + excluded.gone
                """
        ).execute(arguments: [minute, known, gone])
        try db.cachedStatement(
            sql: """
                DELETE FROM removalMemory WHERE minute <= ?1 AND minute < coalesce(
                  (SELECT max(minute) FROM removalMemory WHERE minute <= ?1 AND known IS NOT NULL), ?1)
                """
        ).execute(arguments: [minute - minutesOfDay])
    }

    /// So many of what went are back: they had only moved.
    func forgetGone(_ count: Int) throws {
        var rest = count
        while rest > 0,
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: "SELECT minute, gone FROM removalMemory WHERE gone > 0 ORDER BY minute DESC LIMIT 1"))
        {
            let taken = min(rest, row[1] as Int)
            try db.cachedStatement(sql: "UPDATE removalMemory SET gone = gone - ? WHERE minute = ?")
                .execute(arguments: [taken, row[0] as Int64])
            rest -= taken
        }
    }
}

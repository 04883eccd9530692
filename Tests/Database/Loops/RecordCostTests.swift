import GRDB
import GRDBSQLite
import Model
import TestSupport
import Testing

@testable import Database

/// Tests of the cost of records, in SQLite's own counts.
@Suite struct RecordCostTests {
    /// Adds events of 1.5 kB, in calendars of 10,000 events each, and small shares.
    private func fill(_ database: AccountDatabase, _ count: Int) throws {
        try database.writeBlocking { (tx) throws in
            try tx.db.execute(
                sql: """
                    WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < \(count))
                    INSERT INTO recordContents (id, content) SELECT n + 1, zeroblob(1500) FROM number;
                    WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < \(count))
                    INSERT INTO records (collection, key, version, value, contentID)
                    SELECT printf('calendars//ada/%02d/', n / 10000), printf('/ada/%02d/%06d.ics', n / 10000, n),
                      printf('"%032x"', n), printf('{"uid":"%d","component":"VEVENT","summary":"A meeting"}', n), n + 1
                    FROM number;
                    WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < \(count))
                    INSERT INTO records (collection, key, version, value)
                    SELECT 'shares', n, '', printf('{"path":"/folder/%d"}', n / 2) FROM number
                    """)
        }
    }

    /// Runs a statement and counts its cost.
    /// - Returns: The number of rows of the result, of SQLite's instructions, of rows passed over without a search, and
    ///   of pages read from the file.
    private func cost(
        _ sql: String, _ arguments: [SQLValue], in database: AccountDatabase
    ) throws -> (rows: Int, steps: Int, scanned: Int, pages: Int) {
        try database.readBlocking { (reads) throws in
            var (pages, high) = (Int32(0), Int32(0))
            try reads.db.execute(sql: "PRAGMA shrink_memory")
            sqlite3_db_status(reads.db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &pages, &high, 1)
            let statement = try RawStatement(reads.db, sql, isCached: false)
            statement.bind(arguments)
            var rows = 0
            while try statement.step() { rows += 1 }
            sqlite3_db_status(reads.db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &pages, &high, 0)
            let status = { (counter: Int32) in Int(sqlite3_stmt_status(statement.handle, counter, 0)) }
            return (rows, status(SQLITE_STMTSTATUS_VM_STEP), status(SQLITE_STMTSTATUS_FULLSCAN_STEP), Int(pages))
        }
    }

    @Test(
        "H6: keys and versions are read without contents, and a turn costs what it changes, whatever else there is",
        arguments: [10_000, 100_000])
    func costs(count: Int) throws {
        try withDatabase { (database) throws in
            try fill(database, count)
            try lists(database)
            try turn(database)
        }
    }

    private func lists(_ database: AccountDatabase) throws {
        let collection = SQLValue.text("calendars//ada/00/")
        let all = try cost(RecordSQL.list(.version, isContinued: false), [collection], in: database)
        #expect(all.rows == 10_000)
        #expect(all.scanned == 0 && all.steps < 10 * 10_000 && all.pages < 1_000, "\(all)")
        let after = [collection, .text("/ada/00/009990.ics")]
        let tail = try cost(RecordSQL.list(.version, isContinued: true), after, in: database)
        #expect(tail.rows == 9)
        #expect(tail.scanned == 0 && tail.steps < 200 && tail.pages < 10, "\(tail)")
        let one = [collection, SQLValue.text("/ada/00/000007.ics")]
        let found = try cost(RecordSQL.query(.all, where: "collection = ? AND key = ?"), one, in: database)
        #expect(found.rows == 1 && found.scanned == 0 && found.steps < 50 && found.pages < 10, "\(found)")
    }

    private func turn(_ database: AccountDatabase) throws {
        let changes: [RecordChange] =
            (0..<10).map { number in
                .put(
                    Model.Record(key: RecordKey("/ada/00/00000\(number).ics"), content: [1]),
                    in: RecordCollection("calendars//ada/00/"))
            } + [.remove(RecordKey("7"), from: .shares)]
        try database.writeBlocking { (tx) throws in
            try tx.loops.enrol(workLoop, plugin: calendarLoops)
            try tx.db.execute(sql: "PRAGMA shrink_memory")
            var (pages, high) = (Int32(0), Int32(0))
            sqlite3_db_status(tx.db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &pages, &high, 1)
            _ = try tx.turn(from: nil, to: "1", changes)
            sqlite3_db_status(tx.db.sqliteConnection, SQLITE_DBSTATUS_CACHE_MISS, &pages, &high, 0)
            #expect(pages < 150, "\(pages)")
        }
    }
}

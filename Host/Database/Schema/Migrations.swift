import GRDB
import Model

/// Brings a database up to the schema of this build. `user_version` counts the migrations that it has had.
enum Migrations {
    /// In order; one that was released is never edited or taken away.
    static let all = [
        Schema001.sql, Schema002.sql, Schema003.sql, Schema004.sql, Schema005.sql, Schema006.sql, Schema007.sql,
        Schema008.sql, Schema009.sql, Schema010.sql,
    ]

    /// "Lard", by which `file` and others know the database (SQLite's `application_id`).
    private static let applicationID = 0x4c61_7264

    /// Runs what is missing, all in one transaction: a database is as it was or as it is to be.
    static func run(_ db: GRDB.Database, at path: String, migrations: [String] = all) throws {
        let version = try version(db)
        guard version < migrations.count else { return }
        try db.inTransaction(.immediate) {
            for sql in migrations[version...] { try db.execute(sql: sql) }
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: "PRAGMA user_version = \(migrations.count)")
            return .commit
        }
    }

    /// - Parameter exactly: For a database that is only read: it must have this build's schema already.
    /// - Throws: if a newer Larder has written it.
    /// - Returns: its schema's number; 0: it has none yet.
    @discardableResult
    static func check(_ db: GRDB.Database, at path: String, exactly: Bool) throws -> Int {
        let version = try version(db)
        guard version <= all.count else {
            throw Failure(
                .localIO,
                "The database \(path) was written by a newer Larder (schema \(version), this one knows \(all.count))",
                hint: "Install the newer Larder again; nothing was changed")
        }
        guard version == all.count || !exactly else {
            throw Failure(
                .localIO, "The database \(path) was written by an older Larder",
                hint: "Run `larder run --once`, which upgrades it")
        }
        return version
    }

    /// Whether it is a database with a schema that this build knows.
    static func isOwn(_ db: GRDB.Database) throws -> Bool {
        try (1...all.count).contains(version(db)) && Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
    }

    private static func version(_ db: GRDB.Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    }
}

import GRDB
import Model

/// The migrations that bring a database up to the schema of this build. `user_version` holds the number of migrations
/// that a database has had.
enum Migrations {
    /// The migrations in order. A released migration is never edited or removed.
    static let all = [
        Schema001.sql, Schema002.sql, Schema003.sql, Schema004.sql, Schema005.sql, Schema006.sql, Schema007.sql,
        Schema008.sql, Schema009.sql, Schema010.sql, Schema011.sql, Schema012.sql, Schema013.sql, Schema014.sql,
        Schema015.sql, Schema016.sql, Schema017.sql, Schema018.sql,
    ]

    /// The bytes "Lard", by which `file` and other programs recognise the database (SQLite's `application_id`).
    private static let applicationID = 0x4c61_7264

    /// Runs the missing migrations in one transaction: all of them, or none.
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

    /// Checks the number of a database's schema.
    /// - Parameter exactly: Whether the database must have this build's schema already, since it is only read.
    /// - Throws: `.localIO` if a newer Larder has written the database, or, with `exactly`, an older one; `.notFound`,
    ///   with `exactly`, if it has no schema yet; or SQLite's error.
    /// - Returns: The number of the schema; 0 if the database has none yet.
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
            // The host that makes the file commits its schema later.
            guard version > 0 else {
                throw Failure(.notFound, "Nothing is known of the account yet: \(path) is empty", hint: .runFirst)
            }
            throw Failure(
                .localIO, "The database \(path) was written by an older Larder",
                hint: .runToUpgrade)
        }
        return version
    }

    /// Tells whether a database has a schema that this build knows.
    static func isOwn(_ db: GRDB.Database) throws -> Bool {
        try (1...all.count).contains(version(db)) && Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
    }

    private static func version(_ db: GRDB.Database) throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    }
}

import TestSupport

@testable import Database

/// The account's database. The alias is also usable where GRDB is imported, which has a `Database` of its own.
typealias AccountDatabase = Database

/// Calls `body` with a new, empty database.
func withDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try withTemporaryFolder { folder in try body(try Database.open(path: folder + "/larder.db")) }
}

import TestSupport

@testable import Database

/// Also where GRDB is imported, which has a `Database` of its own.
typealias AccountDatabase = Database

/// Gives `body` a new, empty database.
func withDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try withTemporaryFolder { folder in try body(try Database.open(path: folder + "/larder.db")) }
}

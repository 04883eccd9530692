import Database

/// Also where GRDB is imported, which has a `Database` of its own.
typealias AccountDatabase = Database

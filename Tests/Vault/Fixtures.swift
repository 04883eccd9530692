import Database

/// The account's database. The alias is also usable where GRDB is imported, which has a `Database` of its own.
typealias AccountDatabase = Database

import GRDB
import Model

/// A table, or a few tables that belong together. A table reads a state of the database, and in a ``Transaction`` also
/// writes. No other code writes its rows.
///
/// A value is valid as long as its state or transaction. Its functions throw SQLite's error as ``DatabaseReads`` says, and
/// their comments name only what they throw besides.
protocol Table {
    associatedtype Access: DatabaseReads
    var access: Access { get }
}

/// The functions that run statements. The connection caches the statements by their text.
extension Table {
    var db: GRDB.Database { access.db }

    /// The number of rows that the last statement changed.
    var changedRows: Int { db.changesCount }
    /// The id of the row that was inserted last.
    func insertedID<ID: RowID>() -> ID { ID(insertedRow) }
    /// The number of the row that was inserted last.
    var insertedRow: Int64 { db.lastInsertedRowID }

    func run(_ sql: String, _ arguments: SQLValue...) throws { try run(sql, arguments) }

    func run(_ sql: String, _ arguments: [SQLValue]) throws {
        let statement = try RawStatement(db, sql)
        statement.bind(arguments)
        try statement.run()
    }

    /// Returns what `read` makes of each row.
    func rows<Value>(
        _ sql: String, _ arguments: [SQLValue] = [], _ read: (RawStatement) throws -> Value
    ) throws -> [Value] {
        let statement = try RawStatement(db, sql)
        defer { statement.reset() }
        statement.bind(arguments)
        var values: [Value] = []
        while try statement.step() { values.append(try read(statement)) }
        return values
    }

    /// Returns what `read` makes of the first row, or nil if there is no row.
    func row<Value>(
        _ sql: String, _ arguments: [SQLValue] = [], _ read: (RawStatement) throws -> Value
    ) throws -> Value? {
        let statement = try RawStatement(db, sql)
        defer { statement.reset() }
        statement.bind(arguments)
        return try statement.step() ? try read(statement) : nil
    }

    /// Returns the ids in the first column.
    func ids<ID: RowID>(_ sql: String, _ arguments: SQLValue...) throws -> [ID] { try ids(sql, arguments) }

    /// Returns the ids in the first column.
    func ids<ID: RowID>(_ sql: String, _ arguments: [SQLValue]) throws -> [ID] { try rows(sql, arguments) { $0.id(0) } }

    /// Returns the number in the first column of the first row, or nil if there is none.
    func integer(_ sql: String, _ arguments: SQLValue...) throws -> Int64? { try integer(sql, arguments) }

    /// Returns the number in the first column of the first row, or nil if there is none.
    func integer(_ sql: String, _ arguments: [SQLValue]) throws -> Int64? {
        try row(sql, arguments) { $0.integer(0) } ?? nil
    }

    /// Tells whether the query has a row.
    func exists(_ query: String, _ arguments: SQLValue...) throws -> Bool { try exists(query, arguments) }

    /// Tells whether the query has a row.
    func exists(_ query: String, _ arguments: [SQLValue]) throws -> Bool {
        try row("\(query) LIMIT 1", arguments) { _ in true } ?? false
    }
}

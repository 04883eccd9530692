import GRDB
import Model

/// A table, or a few that belong together: what can be asked of it in a state of the database, and in a ``Transaction`` what can be done
/// to it. Nobody else writes it.
///
/// A value is valid as long as the state or transaction that it is of.
protocol Table {
    associatedtype Access: DatabaseReads
    var access: Access { get }
}

/// Statements, kept by the connection by their text.
extension Table {
    var db: GRDB.Database { access.db }

    /// How many rows the last statement changed.
    var changedRows: Int { db.changesCount }
    /// The id of the row that was inserted last.
    func insertedID<ID: RowID>() -> ID { ID(insertedRow) }
    /// The number of the row that was inserted last.
    var insertedRow: Int64 { db.lastInsertedRowID }

    /// Runs a statement to its end.
    func run(_ sql: String, _ arguments: SQLValue...) throws { try run(sql, arguments) }

    /// Runs a statement to its end.
    func run(_ sql: String, _ arguments: [SQLValue]) throws {
        let statement = try RawStatement(db, sql)
        statement.bind(arguments)
        try statement.run()
    }

    /// What is read of each row.
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

    /// What is read of the first row; nil without one.
    func row<Value>(
        _ sql: String, _ arguments: [SQLValue] = [], _ read: (RawStatement) throws -> Value
    ) throws -> Value? {
        let statement = try RawStatement(db, sql)
        defer { statement.reset() }
        statement.bind(arguments)
        return try statement.step() ? try read(statement) : nil
    }

    /// The ids in the first column.
    func ids<ID: RowID>(_ sql: String, _ arguments: SQLValue...) throws -> [ID] { try ids(sql, arguments) }

    /// The ids in the first column.
    func ids<ID: RowID>(_ sql: String, _ arguments: [SQLValue]) throws -> [ID] { try rows(sql, arguments) { $0.id(0) } }

    /// The number in the first row's first column; nil if there is none.
    func integer(_ sql: String, _ arguments: SQLValue...) throws -> Int64? {
        try row(sql, arguments) { $0.integer(0) } ?? nil
    }

    /// Whether the query has a row.
    func exists(_ query: String, _ arguments: SQLValue...) throws -> Bool { try exists(query, arguments) }

    /// Whether the query has a row.
    func exists(_ query: String, _ arguments: [SQLValue]) throws -> Bool {
        try row("\(query) LIMIT 1", arguments) { _ in true } ?? false
    }
}

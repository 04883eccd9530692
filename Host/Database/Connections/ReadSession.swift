import GRDB
import GRDBSQLite
public import Model
import Synchronization

/// A read-only connection that sees one state of the database from its opening to its end, with any number of open
/// cursors.
///
/// A session is for long reads, such as a plugin's run. It belongs to one thread at a time and is not `Sendable`.
public final class ReadSession {
    private let database: Database
    private var connection: OpaquePointer
    /// Whether the session reads a copy of its state, and not the database itself.
    private var isApart = false
    private var isOpen = true

    private var path: String { database.path }

    /// Opens a connection, or takes the connection of an ended session, and pins the state that is committed now.
    /// - Throws: `.localIO` if the database is damaged or cannot be read, `.vaultLocked` if another program has it
    ///   locked, else `.internal`.
    public init(_ database: Database) throws(Failure) {
        self.database = database
        database.use.store(.read, ordering: .relaxed)
        connection =
            if let idle = database.idleConnection.take() { idle } else { try Self.connect(to: database.path) }
        do {
            try execute("BEGIN")
            // The first read of a transaction fixes the state that it sees.
            try execute("SELECT 1 FROM meta LIMIT 1")
        } catch {
            close()
            throw error
        }
    }

    static func connect(to path: String) throws(Failure) -> OpaquePointer {
        let opened = try open(path, SQLITE_OPEN_READONLY, database: path)
        // A name in double quotes is always a name, never text, as on the other connections.
        _disableDoubleQuotedStringLiterals(opened)
        // The recovery of a log locks readers out for a moment.
        sqlite3_busy_timeout(opened, 10_000)
        sqlite3_exec(opened, "PRAGMA cache_size = -\(Database.readersCacheKiB)", nil, nil, nil)
        return opened
    }

    deinit { close() }

    /// Returns a cursor over items.
    /// - Parameters:
    ///   - columns: The columns that are read; the others are null.
    ///   - sql: The text that follows FROM, such as `items WHERE …`, with `?` for the arguments.
    ///   - isInPathOrder: Whether the items come in the order of their paths. The condition must then be the last part
    ///     of `sql`.
    func items(
        _ columns: ItemColumns, from sql: String, _ arguments: [SQLValue] = [], isInPathOrder: Bool = false
    ) throws(Failure) -> ItemCursor {
        var query = "SELECT \(columns.selection) FROM \(sql)"
        if isInPathOrder { query += try pathOrder(of: query) }
        let statement = try prepare(query)
        statement.bind(arguments)
        return ItemCursor(statement: statement.handle, session: self)
    }

    /// Returns the clause that sorts a query's items by path.
    ///
    /// If the query scans all items, SQLite reads them in the order of the index of paths. If another index finds the
    /// items, SQLite sorts them. Without the difference, SQLite would scan all items to avoid the sorting of a few.
    func pathOrder(of query: String) throws(Failure) -> String {
        let plan = try prepare("EXPLAIN QUERY PLAN " + query)
        defer { sqlite3_finalize(plan.handle) }
        do {
            while try plan.step() {
                if plan.text(3)?.hasSameBytes(as: "SCAN items") == true { return " ORDER BY items.path" }
            }
        } catch { throw SQLiteFailure.failure(for: error, database: path) }
        return " ORDER BY +items.path"
    }

    /// Moves the session to a copy of its state if the write-ahead log has become longer than a limit.
    ///
    /// SQLite cannot begin the log anew while a session reads a state that is in it. So a long run that also writes
    /// calls this function from time to time, and the log stays short. The session sees the same state as before, and a
    /// query gives the same rows in the same order. The copy is a file beside the database, without a name, that is
    /// gone when the session ends.
    /// - Parameter limit: The limit, in bytes.
    /// - Returns: Whether the session has moved. The log is kept until the cursors that were opened before are gone.
    /// - Throws: `.localIO` if the disk is full, or the copy cannot be written, or the database cannot be read; the
    ///   session stays where it was.
    public func leaveLog(longerThan limit: Int = Database.longestPinnedLog) throws(Failure) -> Bool {
        guard isOpen, !isApart, database.logSize > limit else { return false }
        let copy = try Self.copy(connection, of: database)
        let former = connection
        (connection, isApart) = (copy, true)
        // SQLite closes the connection when the last cursor is gone.
        sqlite3_close_v2(former)
        return true
    }

    /// Releases the pinned state. The session's cursors must not be used afterwards.
    public func close() {
        guard isOpen else { return }
        let isAtRest =
            !isApart && sqlite3_next_stmt(connection, nil) == nil
            && sqlite3_exec(connection, "ROLLBACK", nil, nil, nil) == SQLITE_OK
        isOpen = false
        if isAtRest {
            database.idleConnection.put(connection)
        } else {
            // SQLite closes the connection when the last cursor is gone.
            sqlite3_close_v2(connection)
        }
    }

    /// Returns what `read` makes of the first row, or nil if there is no row.
    func first<T>(_ sql: String, _ read: (RawStatement) -> T) throws(Failure) -> T? {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement.handle) }
        do { return try statement.step() ? read(statement) : nil } catch {
            throw SQLiteFailure.failure(for: error, database: path)
        }
    }

    private func execute(_ sql: String) throws(Failure) {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement.handle) }
        do { try statement.run() } catch { throw SQLiteFailure.failure(for: error, database: path) }
    }

    func prepare(_ sql: String) throws(Failure) -> RawStatement {
        guard isOpen else { throw Failure(.internal, "A read of the database was requested after its end") }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else {
            throw SQLiteFailure.failure(
                code: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)), sql: sql,
                database: path)
        }
        return RawStatement(handle: statement)
    }

    func failure(of statement: OpaquePointer) -> Failure {
        SQLiteFailure.failure(for: RawStatement(handle: statement).error(), database: path)
    }
}

import GRDB
import GRDBSQLite
import Model

/// A prepared statement that is bound and stepped without an intermediate value for each column.
struct RawStatement {
    let handle: OpaquePointer
    /// The owner that finalizes the handle; nil if another object finalizes it.
    private let owner: Statement?

    init(handle: OpaquePointer) {
        self.handle = handle
        owner = nil
    }

    /// Prepares the statement with this text.
    /// - Parameter isCached: Whether the connection caches the statement for reuse. This suits texts of which there are
    ///   few.
    init(_ db: GRDB.Database, _ sql: String, isCached: Bool = true) throws {
        var statement = isCached ? try db.cachedStatement(sql: sql) : try db.makeStatement(sql: sql)
        // A statement that a caller further up the stack is stepping stays as it is.
        if sqlite3_stmt_busy(statement.sqliteStatement) != 0 { statement = try db.makeStatement(sql: sql) }
        handle = statement.sqliteStatement
        owner = statement
        sqlite3_clear_bindings(handle)
    }

    func reset() {
        // The return value is the error of the last step, which was thrown then.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// Goes to the next row.
    /// - Returns: False after the last row.
    func step() throws(DatabaseError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw error()
        }
    }

    /// Runs the statement to its end and resets it, so that it does not pin a state of the database.
    func run() throws {
        defer { reset() }
        while try step() {}
    }

    func error() -> DatabaseError {
        let connection = sqlite3_db_handle(handle)
        let sql: String? = sqlite3_sql(handle).map { String(cString: $0) }
        return DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
            message: String(cString: sqlite3_errmsg(connection)), sql: sql)
    }

    // MARK: Arguments, counted from 1
    // A wrong index would be a mistake in this module and has the effect of a missing value.

    func bind(_ index: Int32, _ value: Int64?) {
        if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
    }

    func bind(_ index: Int32, _ id: some RowID) { sqlite3_bind_int64(handle, index, id.number) }

    func bind(_ index: Int32, _ value: String?) {
        guard var value else {
            sqlite3_bind_null(handle, index)
            return
        }
        value.withUTF8 { bytes in
            // SQLite would take a null address for null, and an empty buffer may have a null address.
            bytes.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_text(handle, index, $0.baseAddress ?? emptyText, Int32($0.count), copied)
            }
        }
    }

    func bind(_ index: Int32, _ value: [UInt8]?) {
        guard let value else {
            sqlite3_bind_null(handle, index)
            return
        }
        _ = value.withUnsafeBytes { bytes in
            if bytes.isEmpty {
                sqlite3_bind_zeroblob(handle, index, 0)
            } else {
                sqlite3_bind_blob(handle, index, bytes.baseAddress, Int32(bytes.count), copied)
            }
        }
    }

    func bind(_ index: Int32, _ value: SQLValue) {
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): bind(index, value)
        case .text(let value): bind(index, value)
        case .blob(let value): bind(index, value)
        }
    }

    func bind(_ values: [SQLValue], from first: Int32 = 1) {
        for (offset, value) in values.enumerated() { bind(first + Int32(offset), value) }
    }

    // MARK: Columns, counted from 0.

    func integer(_ column: Int32) -> Int64? {
        isNull(column) ? nil : sqlite3_column_int64(handle, column)
    }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// Returns the id in a column, or ``RowID/none`` for null.
    func id<ID: RowID>(_ column: Int32) -> ID { ID(sqlite3_column_int64(handle, column)) }

    /// Returns the number of times that something happened, for use in arithmetic: 0 for null or a negative number, and
    /// at most the largest 32-bit integer.
    func count(_ column: Int32) -> Int { Int(min(max(integer(column) ?? 0, 0), Int64(Int32.max))) }

    func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Returns the UTF-8 text in a column without copying it; empty for null. It is valid until the next row is read.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        guard let start = sqlite3_column_text(handle, column) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }

    func blob(_ column: Int32) -> [UInt8]? {
        guard !isNull(column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        guard count > 0, let bytes = sqlite3_column_blob(handle, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

/// The value that makes SQLite copy its argument (`SQLITE_TRANSIENT`, which the SQLite header defines by a cast).
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

private nonisolated(unsafe) let emptyText: UnsafePointer<CChar> = {
    let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    bytes.initialize(to: 0)
    return UnsafePointer(bytes)
}()

import GRDBSQLite

/// A connection to a blob stack's database. The connection is closed when the object is released. Two threads must not
/// use it at the same time.
final class BlobDatabase {
    /// In milliseconds. Other processes lock the file only for moments.
    private static let busyTimeout: Int32 = 60_000

    private let connection: OpaquePointer

    init(path: String) throws(BlobStackError) {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(path, &connection, flags, nil)
        guard code == SQLITE_OK, let connection else {
            let message = String(cString: connection.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
            sqlite3_close_v2(connection)
            throw BlobStackError(code: code, message: message)
        }
        self.connection = connection
        sqlite3_extended_result_codes(connection, 1)
        sqlite3_busy_timeout(connection, Self.busyTimeout)
        // Pushed blobs must survive a power cut.
        try run("PRAGMA synchronous = FULL")
    }

    deinit { sqlite3_close_v2(connection) }

    func count() throws(BlobStackError) -> Int {
        var count = 0
        try run("SELECT count(*) FROM blobs") { count = Int(sqlite3_column_int64($0, 0)) }
        return count
    }

    func blobs(in range: Range<Int>) throws(BlobStackError) -> [[UInt8]] {
        var blobs: [[UInt8]] = []
        try run(
            "SELECT bytes FROM blobs WHERE position >= ? AND position < ? ORDER BY position", Int64(range.lowerBound),
            Int64(range.upperBound)
        ) { row in
            // SQLite returns a null pointer for an empty blob.
            let bytes = sqlite3_column_blob(row, 0)
            blobs.append(Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(row, 0)))))
        }
        return blobs
    }

    /// Runs a statement until it is done.
    /// - Parameters:
    ///   - numbers: The first arguments of the statement.
    ///   - bytes: The argument after `numbers`; nil for none.
    ///   - row: Is called with the statement for each row.
    func run(
        _ sql: String, _ numbers: Int64..., bytes: [UInt8]? = nil, row: (OpaquePointer) -> Void = { _ in }
    ) throws(BlobStackError) {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw error()
        }
        defer { sqlite3_finalize(statement) }
        for (index, number) in numbers.enumerated() { sqlite3_bind_int64(statement, Int32(index + 1), number) }
        if let bytes {
            let index = Int32(numbers.count + 1)
            let code = bytes.withUnsafeBytes { bytes in
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(statement, index, 0)
                    : sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), copied)
            }
            guard code == SQLITE_OK else { throw error() }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: row(statement)
            case SQLITE_DONE: return
            default: throw error()
            }
        }
    }

    private func error() -> BlobStackError {
        BlobStackError(
            code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)))
    }
}

/// Tells SQLite to copy the bytes it is given (`SQLITE_TRANSIENT`, which SQLite's header defines by a cast).
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

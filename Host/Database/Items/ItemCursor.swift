public import GRDBSQLite
public import Model

/// Steps through items' rows. What it returns of a row is borrowed: it is valid until the next ``next()``.
public final class ItemCursor {
    @usableFromInline let statement: OpaquePointer
    private let session: ReadSession

    init(statement: OpaquePointer, session: ReadSession) {
        self.statement = statement
        self.session = session
    }

    deinit { sqlite3_finalize(statement) }

    /// Goes to the next row.
    /// - Returns: false after the last.
    /// - Throws: As ``ReadSession/init(_:)``; when it throws, what came is not all.
    @inlinable
    public func next() throws(Failure) -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure()
    }

    @usableFromInline
    func failure() -> Failure { session.failure(of: statement) }

    /// Whether the row has no value there, or the column was left out.
    @inlinable
    public func isNull(_ column: ItemColumn) -> Bool {
        sqlite3_column_type(statement, column.rawValue) == SQLITE_NULL
    }

    /// The number there; 0 for null.
    @inlinable
    public func integer(_ column: ItemColumn) -> Int64 { sqlite3_column_int64(statement, column.rawValue) }

    /// The text's UTF-8 there, not copied; nil for null.
    @inlinable
    public func text(_ column: ItemColumn) -> UnsafeBufferPointer<UInt8>? {
        guard let start = sqlite3_column_text(statement, column.rawValue) else { return nil }
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column.rawValue)))
    }

    /// The whole item in the row. The cursor must have been made with all columns.
    public var item: Item { Item(RawStatement(handle: statement)) }
}

public import GRDBSQLite
public import Model

/// A cursor that steps through items' rows. The values that the cursor returns for a row are borrowed: they are valid
/// until the next call of ``next()``.
public final class ItemCursor {
    @usableFromInline let statement: OpaquePointer
    private let session: ReadSession

    init(statement: OpaquePointer, session: ReadSession) {
        self.statement = statement
        self.session = session
    }

    deinit { sqlite3_finalize(statement) }

    /// Goes to the next row.
    /// - Returns: False after the last row.
    /// - Throws: The errors of ``ReadSession/init(_:)``. After an error, the rows read so far are not all rows.
    @inlinable
    public func next() throws(Failure) -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure()
    }

    @usableFromInline
    func failure() -> Failure { session.failure(of: statement) }

    /// Tells whether the row has no value in a column, or the cursor does not read the column.
    @inlinable
    public func isNull(_ column: ItemColumn) -> Bool {
        sqlite3_column_type(statement, column.rawValue) == SQLITE_NULL
    }

    /// Returns the number in a column; 0 for null.
    @inlinable
    public func integer(_ column: ItemColumn) -> Int64 { sqlite3_column_int64(statement, column.rawValue) }

    /// Returns the UTF-8 text in a column without copying it; nil for null.
    @inlinable
    public func text(_ column: ItemColumn) -> UnsafeBufferPointer<UInt8>? {
        guard let start = sqlite3_column_text(statement, column.rawValue) else { return nil }
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column.rawValue)))
    }

    /// The whole item in the row. The cursor must read all columns.
    public var item: Item { Item(RawStatement(handle: statement)) }
}

import GRDBSQLite
public import Model

/// A cursor that steps through the records of a collection, in the state that its session pinned.
public final class RecordCursor {
    private let statement: OpaquePointer
    private let session: ReadSession

    init(statement: OpaquePointer, session: ReadSession) {
        self.statement = statement
        self.session = session
    }

    deinit { sqlite3_finalize(statement) }

    /// Returns the next record; nil after the last.
    /// - Throws: The errors of ``ReadSession/init(_:)``. After an error, the records read so far are not all records.
    public func next() throws(Failure) -> Record? {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return Record(RawStatement(handle: statement))
        case SQLITE_DONE: return nil
        default: throw session.failure(of: statement)
        }
    }
}

extension ReadSession {
    /// Returns a record of a collection; nil if there is none with this key. Contents that are not requested are not
    /// read.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public func record(
        _ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields = .all
    ) throws(Failure) -> Record? {
        let statement = try prepare(RecordSQL.query(fields, where: "collection = ? AND key = ?"))
        statement.bind([.text(collection.text), .text(key.text)])
        return try RecordCursor(statement: statement.handle, session: self).next()
    }

    /// Returns a cursor over the records of a collection by key, byte by byte. Contents that are not requested are not
    /// read.
    /// - Parameter after: The key after which the records begin, whether or not a record has it; nil to begin with the
    ///   first record.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public func records(
        in collection: RecordCollection, after: RecordKey? = nil, _ fields: RecordFields = .all
    ) throws(Failure) -> RecordCursor {
        let statement = try prepare(RecordSQL.list(fields, isContinued: after != nil))
        statement.bind([.text(collection.text)] + (after.map { [.text($0.text)] } ?? []))
        return RecordCursor(statement: statement.handle, session: self)
    }
}

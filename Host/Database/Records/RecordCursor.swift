import GRDBSQLite
public import Model

/// Steps through the records of a collection, as they were when its session began.
public final class RecordCursor {
    private let statement: OpaquePointer
    private let session: ReadSession

    init(statement: OpaquePointer, session: ReadSession) {
        self.statement = statement
        self.session = session
    }

    deinit { sqlite3_finalize(statement) }

    /// The next record; nil after the last.
    /// - Throws: As ``ReadSession/init(_:)``; when it throws, what came is not all.
    public func next() throws(Failure) -> Record? {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return Record(RawStatement(handle: statement))
        case SQLITE_DONE: return nil
        default: throw session.failure(of: statement)
        }
    }
}

extension ReadSession {
    /// The records of a collection by key, byte by byte. Contents that are not asked for are not touched.
    /// - Parameter after: Begins behind this key, whether or not there is a record with it; nil: at the first.
    /// - Throws: `.internal` after the session's end, and as ``ReadSession/init(_:)``.
    public func records(
        in collection: RecordCollection, after: RecordKey? = nil, _ fields: RecordFields = .all
    ) throws(Failure) -> RecordCursor {
        let statement = try prepare(RecordSQL.list(fields, isContinued: after != nil))
        statement.bind([.text(collection.text)] + (after.map { [.text($0.text)] } ?? []))
        return RecordCursor(statement: statement.handle, session: self)
    }
}

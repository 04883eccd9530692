import GRDBSQLite
public import Model

extension DatabaseReads {
    /// Reads the shares that are known one after the other, by their ids; `body` returns false to end early.
    public func eachShare(_ body: (CachedShare) throws -> Bool) throws {
        let fields = [
            "direction", "path", "shareType", "owner", "sharedWith", "permissions", "expiration", "url", "state",
        ]
        let statement = try RawStatement(
            db,
            """
            SELECT key, \(fields.map { "nullif(value, '') ->> '$.\($0)'" }.joined(separator: ", "))
            FROM records WHERE collection = 'shares' ORDER BY key
            """)
        defer { statement.reset() }
        while try statement.step() {
            let share = CachedShare(
                id: RecordKey(statement.text(0) ?? ""), direction: statement.text(1), path: statement.text(2),
                shareType: statement.given(3), owner: statement.text(4), sharedWith: statement.text(5),
                permissions: statement.given(6), expiration: statement.text(7), url: statement.text(8),
                state: statement.given(9))
            guard try body(share) else { return }
        }
    }

    /// The ids of the shares of the item at a path. It looks into an index.
    public func shares(of path: ItemPath) throws -> [RecordKey] {
        let statement = try RawStatement(db, "SELECT key FROM records WHERE sharedPath = ? ORDER BY key")
        defer { statement.reset() }
        statement.bind(1, path.text)
        var keys: [RecordKey] = []
        while try statement.step() { keys.append(RecordKey(statement.text(0) ?? "")) }
        return keys
    }
}

/// Which shares items have, looked up item by item in the state of a read session.
public final class SharesOfItems {
    private let statement: OpaquePointer
    private let session: ReadSession
    /// A JSON list of the ids of the shares of the item that was looked up last, borrowed until the next look-up.
    public private(set) var list: UnsafeBufferPointer<UInt8>?

    /// Nil: no share is known of any item.
    public init?(_ session: ReadSession) throws(Failure) {
        guard try session.first("SELECT 1 FROM records WHERE sharedPath IS NOT NULL LIMIT 1", { _ in true }) == true
        else { return nil }
        self.session = session
        statement = try session.prepare(
            "SELECT json_group_array(key) FROM (SELECT key FROM records WHERE sharedPath = ? ORDER BY key)"
        ).handle
    }

    deinit { sqlite3_finalize(statement) }

    /// Looks an item up by its path.
    /// - Parameter path: borrowed until the next look-up.
    public func look(at path: UnsafeBufferPointer<UInt8>) throws(Failure) {
        list = nil
        sqlite3_reset(statement)
        path.withMemoryRebound(to: CChar.self) {
            _ = sqlite3_bind_text(statement, 1, $0.baseAddress, Int32($0.count), nil)
        }
        guard sqlite3_step(statement) == SQLITE_ROW, let start = sqlite3_column_text(statement, 0) else {
            throw session.failure(of: statement)
        }
        list = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, 0)))
    }
}

extension RawStatement {
    fileprivate func given(_ column: Int32) -> CachedShare.Given? {
        if sqlite3_column_type(handle, column) == SQLITE_INTEGER { return integer(column).map { .number($0) } }
        return text(column).map { .word($0) }
    }
}

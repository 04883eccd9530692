import GRDBSQLite
public import Model

enum RecordSQL {
    static func query(_ fields: RecordFields, where condition: String) -> String {
        let version = fields.contains(.version) ? "version" : "''"
        let value = fields.contains(.value) ? "value" : "''"
        guard fields.contains(.content) else {
            return "SELECT key, \(version), \(value), NULL FROM records WHERE \(condition)"
        }
        return """
            SELECT key, \(version), \(value), content FROM records
            LEFT JOIN recordContents ON recordContents.id = contentID WHERE \(condition)
            """
    }

    static func list(_ fields: RecordFields, isContinued: Bool) -> String {
        query(fields, where: "collection = ?\(isContinued ? " AND key > ?" : "") ORDER BY key")
    }
}

extension Record {
    /// The record in a row of ``RecordSQL``.
    init(_ row: RawStatement) {
        self.init(
            key: RecordKey(row.text(0) ?? ""), version: row.text(1) ?? "", value: row.text(2) ?? "",
            content: row.blob(3))
    }
}

/// What became of a record.
public enum RecordEvent: Hashable, Sendable {
    case added, changed, removed
}

/// A record in its collection.
public struct RecordPlace: Hashable, Sendable {
    public var collection: RecordCollection
    public var key: RecordKey

    public init(_ collection: RecordCollection, _ key: RecordKey) { (self.collection, self.key) = (collection, key) }
}

/// Records of calendars whose removal waits for a person: an issue for each loop that asked for it.
public enum HeldRecords {
    public static let code = "calendar.removals"
}

/// Which shares items have, looked up item by item in the state of a read session.
public final class SharesOfItems {
    private let statement: OpaquePointer
    private let session: ReadSession
    /// A JSON list of the ids of the shares of the item that was looked up last, borrowed until the next look-up.
    public private(set) var list: UnsafeBufferPointer<UInt8>?

    /// Nil: no share is known of any item.
    /// - Throws: `.internal` after the session's end, and as ``ReadSession/init(_:)``.
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
    /// - Throws: As ``ReadSession/init(_:)``; ``list`` is nil then.
    public func find(_ path: UnsafeBufferPointer<UInt8>) throws(Failure) {
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
    func given(_ column: Int32) -> CachedShare.Given? {
        if sqlite3_column_type(handle, column) == SQLITE_INTEGER { return integer(column).map { .number($0) } }
        return text(column).map { .word($0) }
    }
}

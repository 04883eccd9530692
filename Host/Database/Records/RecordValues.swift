import GRDBSQLite
public import Model

enum RecordSQL {
    /// A query for the size of records, as ``Model/Record/size`` counts it.
    static let size = """
        SELECT sum(length(CAST(key AS BLOB)) + length(CAST(version AS BLOB)) + length(CAST(value AS BLOB))
          + ifnull((SELECT length(content) FROM recordContents WHERE id = contentID), 0)) FROM records
        """

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
    /// Creates a record from a row of ``RecordSQL``.
    init(_ row: RawStatement) {
        self.init(
            key: RecordKey(row.text(0) ?? ""), version: row.text(1) ?? "", value: row.text(2) ?? "",
            content: row.blob(3))
    }
}

/// The change of a record.
public enum RecordEvent: Hashable, Sendable {
    case added, changed, removed
}

/// A record's key with its collection.
public struct RecordPlace: Hashable, Sendable {
    /// The collection of the record.
    public var collection: RecordCollection
    /// The record's key in the collection.
    public var key: RecordKey

    /// Creates the name of a record.
    public init(_ collection: RecordCollection, _ key: RecordKey) { (self.collection, self.key) = (collection, key) }
}

/// The issue that holds removals of calendars' records until a person decides. Each loop that requested such removals
/// has an issue of its own.
public enum HeldRecords {
    /// The issue's code.
    public static let code = "calendar.removals"
}

/// A query for the shares of single items, in the state of a read session.
public final class SharesOfItems {
    private let statement: OpaquePointer
    private let session: ReadSession
    /// The ids of the shares of the item that ``find(_:)`` was last called for, as a JSON list. The list is borrowed
    /// until the next call.
    public private(set) var list: UnsafeBufferPointer<UInt8>?

    /// Prepares the query. The result is nil if no share of any item is known.
    /// - Throws: `.internal` after the end of the session, and the errors of ``ReadSession/init(_:)``.
    public init?(_ session: ReadSession) throws(Failure) {
        guard try session.first("SELECT 1 FROM records WHERE sharedPath IS NOT NULL LIMIT 1", { _ in true }) == true
        else { return nil }
        self.session = session
        statement = try session.prepare(
            "SELECT json_group_array(key) FROM (SELECT key FROM records WHERE sharedPath = ? ORDER BY key)"
        ).handle
    }

    deinit { sqlite3_finalize(statement) }

    /// Finds the shares of the item at a path.
    /// - Parameter path: The path, borrowed until the next call.
    /// - Throws: The errors of ``ReadSession/init(_:)``; ``list`` is nil then.
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

public import Model

extension DatabaseReads {
    /// A record of a collection; nil if there is none with this key. What was not asked for is empty.
    public func record(
        _ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields = .all
    ) throws -> Record? {
        let statement = try RawStatement(db, RecordSQL.query(fields, where: "collection = ? AND key = ?"))
        defer { statement.reset() }
        statement.bind([.text(collection.text), .text(key.text)])
        return try statement.step() ? Record(statement) : nil
    }

    /// Reads the records of a collection one after the other, by key, byte by byte. Contents that are not asked for are not
    /// touched.
    /// - Parameters:
    ///   - after: Begins behind this key, whether or not there is a record with it; nil: at the first.
    ///   - body: Returns false to end early.
    public func eachRecord(
        in collection: RecordCollection, after: RecordKey? = nil, _ fields: RecordFields = .all,
        _ body: (Record) throws -> Bool
    ) throws {
        let statement = try RawStatement(db, RecordSQL.list(fields, isContinued: after != nil))
        defer { statement.reset() }
        statement.bind([.text(collection.text)] + (after.map { [.text($0.text)] } ?? []))
        while try statement.step() {
            guard try body(Record(statement)) else { return }
        }
    }

    /// How many records a collection has.
    /// - Parameter withContent: only those whose content is here.
    public func recordCount(in collection: RecordCollection, withContent: Bool = false) throws -> Int {
        let column = withContent ? "contentID" : "*"
        let statement = try RawStatement(db, "SELECT count(\(column)) FROM records WHERE collection = ?")
        defer { statement.reset() }
        statement.bind(1, collection.text)
        return try statement.step() ? Int(statement.integer(0) ?? 0) : 0
    }
}

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

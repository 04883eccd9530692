/// A thing that a loop cached.
public struct Record: Hashable, Sendable {
    /// In its collection: a path, an id; at most 4 KiB.
    public var key: String
    /// The server's, such as an ETag; empty: none.
    public var version: String
    /// A JSON object; empty: nothing yet. At most 1 MiB.
    public var value: String
    /// Nil: there is none, or it was not asked for.
    public var content: [UInt8]?

    public init(key: String, version: String = "", value: String = "", content: [UInt8]? = nil) {
        self.key = key
        self.version = version
        self.value = value
        self.content = content
    }

    init(_ record: larder_record) {
        key = Text(unsafe: record.key).copied()
        version = Text(unsafe: record.version).copied()
        value = Text(unsafe: record.value).copied()
        content = record.content.ptr.map { Array(UnsafeBufferPointer(start: $0, count: Int(record.content.len))) }
    }
}

/// Which parts of a record are read; its key always is.
public struct RecordParts: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let version = RecordParts(rawValue: LARDER_RECORD_VERSION)
    public static let value = RecordParts(rawValue: LARDER_RECORD_VALUE)
    public static let content = RecordParts(rawValue: LARDER_RECORD_CONTENT)
}

/// A stream of records in the order of their keys' bytes, for the call.
public struct RecordCursor: ~Copyable {
    private let cursor: UnsafeMutablePointer<larder_record_cursor>
    private let records: Host.Records

    init(_ cursor: UnsafeMutablePointer<larder_record_cursor>, of records: Host.Records) {
        self.cursor = cursor
        self.records = records
    }

    deinit { records.close(cursor) }

    /// The next record; nil past the last.
    /// - Throws: ``Status/io`` if the records cannot be read, ``Status/cancelled`` if the call should end.
    public mutating func next() throws(PluginError) -> Record? {
        var record: UnsafePointer<larder_record>?
        try Status.check(cursor.pointee.next(cursor, &record), "record_cursor.next")
        return record.map { Record($0.pointee) }
    }
}

extension Host {
    /// What loops cached; nil if withheld.
    public var records: Records? { table(.records, as: larder_records.self).map { Records(host: pointer, table: $0) } }

    /// Changes are made when the turn is committed, with its event id. A loop writes the collection with its plugin's id, or, if it is
    /// there for a record, the one that is named after both.
    public struct Records {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_records>

        /// The record with a key, as the turn has it so far; nil if there is none.
        /// - Throws: ``Status/io`` if the record cannot be read.
        public func record(
            _ key: String, in collection: String, _ parts: RecordParts = [.version, .value]
        ) throws(PluginError) -> Record? {
            var loan = Loan()
            var record = larder_record()
            record.struct_size = UInt32(MemoryLayout<larder_record>.size)
            let status = table.pointee.get(
                host, loan.text(collection), loan.text(key), parts.rawValue, &record)
            if status == LARDER_NOT_FOUND { return nil }
            try Status.check(status, "records.get")
            return Record(record)
        }

        /// Streams a collection's records as they were when the turn began.
        /// - Parameter key: only those with a greater key.
        /// - Throws: ``Status/limit`` if 16 cursors are open, ``Status/io`` if the records cannot be read.
        public func all(
            in collection: String, after key: String? = nil, _ parts: RecordParts = [.version, .value]
        ) throws(PluginError) -> RecordCursor {
            var loan = Loan()
            var cursor: UnsafeMutablePointer<larder_record_cursor>?
            try Status.check(
                table.pointee.open(host, loan.text(collection), loan.text(key), parts.rawValue, &cursor),
                "records.open")
            guard let cursor else { throw PluginError(.internal, "the host's records.open handed out nothing") }
            return RecordCursor(cursor, of: self)
        }

        /// Asks that a record is as given, in place of any with its key.
        /// - Throws: ``Status/denied`` for a collection that is not this loop's, ``Status/limit`` if the record is too
        ///   large or the turn asks for more than 16 MiB, ``Status/invalidArgument`` if the key is empty or the value
        ///   no JSON object, and ``Status/wrongState`` in a loop's `poll` and `onError`.
        public func put(_ record: Record, in collection: String) throws(PluginError) {
            var loan = Loan()
            var view = larder_record(
                struct_size: UInt32(MemoryLayout<larder_record>.size), reserved: 0, key: loan.text(record.key),
                version: loan.text(record.version), value: loan.text(record.value),
                content: loan.bytes(record.content))
            try Status.check(table.pointee.put(host, loan.text(collection), &view), "records.put")
        }

        /// Asks that a record and all that belongs to it go.
        /// - Throws: ``Status/denied`` for a collection that is not this loop's, ``Status/limit`` if the key is longer
        ///   than 4 KiB or the turn asks for more than 16 MiB, ``Status/invalidArgument`` if the key is empty, and
        ///   ``Status/wrongState`` in a loop's `poll` and `onError`.
        public func remove(_ key: String, from collection: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.remove(host, loan.text(collection), loan.text(key)), "records.remove")
        }

        /// The collection of what belongs to a record.
        public static func collection(of key: String, in collection: String) -> String { collection + "/" + key }

        func close(_ cursor: UnsafeMutablePointer<larder_record_cursor>) { _ = table.pointee.close(host, cursor) }
    }
}

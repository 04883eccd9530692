/// A thing that an event loop keeps.
///
/// ```swift
/// let value = JSON.object(of: ["title": .string("Rain")])
/// let record = Record(key: "headline-7", version: "5f2-1a", value: value.text)
/// ```
public struct Record: Hashable, Sendable {
    /// The key, which is unique in the collection: a path or an id of at most 4 KiB. Not empty.
    public var key: String
    /// The server's version, such as an ETag. Empty: there is none.
    public var version: String
    /// A JSON object of at most 1 MiB. Empty: there is nothing to tell yet.
    public var value: String
    /// The thing itself. Nil: the record has none, or it was not asked for.
    public var content: [UInt8]?

    /// Creates a record.
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

/// The parts of a record that a method reads. It always reads the key.
///
/// ```swift
/// let records = try host.require(host.records, .records)
/// let record = try records.record("/ada/work/", in: "calendars", [.version, .content])
/// ```
public struct RecordParts: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// ``Record/version``.
    public static let version = RecordParts(rawValue: LARDER_RECORD_VERSION)
    /// ``Record/value``.
    public static let value = RecordParts(rawValue: LARDER_RECORD_VALUE)
    /// ``Record/content``.
    public static let content = RecordParts(rawValue: LARDER_RECORD_CONTENT)
}

/// A stream of records in the order of their keys' bytes, valid for the call.
///
/// ```swift
/// let records = try host.require(host.records, .records)
/// var cursor = try records.all(in: "calendars", .version)
/// var versions: [String: String] = [:]
/// while let record = try cursor.next() { versions[record.key] = record.version }
/// ```
public struct RecordCursor: ~Copyable {
    private let cursor: UnsafeMutablePointer<larder_record_cursor>
    private let records: Host.Records

    init(_ cursor: UnsafeMutablePointer<larder_record_cursor>, of records: Host.Records) {
        self.cursor = cursor
        self.records = records
    }

    deinit { records.close(cursor) }

    /// Returns the next record, or nil past the last one.
    /// - Throws: ``Status/io`` if the records cannot be read, ``Status/cancelled`` if the call should end.
    public mutating func next() throws(PluginError) -> Record? {
        var record: UnsafePointer<larder_record>?
        try Status.check(cursor.pointee.next(cursor, &record), "record_cursor.next")
        return record.map { Record($0.pointee) }
    }
}

extension Host {
    /// The records that event loops keep. Nil if the service is withheld.
    public var records: Records? { table(.records, as: larder_records.self).map { Records(host: pointer, table: $0) } }

    /// The records that event loops keep. The host makes changes when it commits the turn, together with the turn's
    /// event id. A loop writes the collection with its plugin's id or, if the loop is there for a record, the
    /// collection that is named after both. A processor reads all records, in the state in which it sees the items of
    /// its run, and changes none; ``Trigger/recordsChanged`` tells it of changes.
    ///
    /// ```swift
    /// let records = try host.require(host.records, .records)
    /// let objects = Host.Records.collection(of: "/ada/work/", in: "calendars")
    /// try records.put(Record(key: "/ada/work/1.ics", version: "1"), in: objects)
    /// ```
    public struct Records {
        fileprivate let host: UnsafePointer<larder_host>
        fileprivate let table: UnsafePointer<larder_records>

        /// Returns the record with a key, with the turn's earlier requests applied; nil if there is none.
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

        /// Streams a collection's records as they were when the turn or the run began.
        /// - Parameters:
        ///   - collection: The collection's name.
        ///   - key: Streams only the records with a greater key. Nil: all.
        ///   - parts: The parts to read.
        /// - Throws: ``Status/limit`` if 16 cursors are open, ``Status/io`` if the records cannot be read.
        public func all(
            in collection: String, after key: String? = nil, _ parts: RecordParts = [.version, .value]
        ) throws(PluginError) -> RecordCursor {
            var loan = Loan()
            var cursor: UnsafeMutablePointer<larder_record_cursor>?
            try Status.check(
                table.pointee.open(host, loan.text(collection), loan.text(key), parts.rawValue, &cursor),
                "records.open")
            guard let cursor else { throw PluginError(.internal, "the host's records.open returned no cursor") }
            return RecordCursor(cursor, of: self)
        }

        /// Asks for a record as given, in place of the record with its key if there is one.
        /// - Throws: ``Status/denied`` in a processor and for a collection that is not this loop's, ``Status/limit`` if the record is too
        ///   large or the turn asks for more than 16 MiB, ``Status/invalidArgument`` if the key is empty or the value
        ///   is not a JSON object, and ``Status/wrongState`` in a loop's `poll` and `onError`.
        public func put(_ record: Record, in collection: String) throws(PluginError) {
            var loan = Loan()
            var view = larder_record(
                struct_size: UInt32(MemoryLayout<larder_record>.size), reserved: 0, key: loan.text(record.key),
                version: loan.text(record.version), value: loan.text(record.value),
                content: loan.bytes(record.content))
            try Status.check(table.pointee.put(host, loan.text(collection), &view), "records.put")
        }

        /// Asks for the removal of a record and of everything that belongs to it.
        /// - Throws: ``Status/denied`` in a processor and for a collection that is not this loop's, ``Status/limit`` if the key is longer
        ///   than 4 KiB or the turn asks for more than 16 MiB, ``Status/invalidArgument`` if the key is empty, and
        ///   ``Status/wrongState`` in a loop's `poll` and `onError`.
        public func remove(_ key: String, from collection: String) throws(PluginError) {
            var loan = Loan()
            try Status.check(table.pointee.remove(host, loan.text(collection), loan.text(key)), "records.remove")
        }

        /// Returns the name of the collection of the things that belong to a record.
        public static func collection(of key: String, in collection: String) -> String { collection + "/" + key }

        func close(_ cursor: UnsafeMutablePointer<larder_record_cursor>) { _ = table.pointee.close(host, cursor) }
    }
}

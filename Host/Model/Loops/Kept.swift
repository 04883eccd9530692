/// A value that a plugin stored.
public struct KeptValue: Hashable, Sendable {
    /// The key, 1 byte to 1 KiB of any bytes.
    public var key: [UInt8]
    /// The value, at most 1 MiB of any bytes.
    public var value: [UInt8]

    /// Creates a value.
    public init(key: [UInt8], value: [UInt8]) {
        self.key = key
        self.value = value
    }

    /// The bytes that the value takes with its key.
    public var size: Int64 { Int64(key.count + value.count) }
}

/// A record that a plugin's loops keep, without its content.
public struct KeptRecord: Hashable, Sendable {
    /// The record's collection.
    public var collection: RecordCollection
    /// The record. Its content is nil, whether or not there is one.
    public var record: Record
    /// The size of the content in bytes; nil if there is no content.
    public var contentSize: Int64?

    /// Creates a record.
    public init(collection: RecordCollection, record: Record, contentSize: Int64?) {
        self.collection = collection
        self.record = record
        self.contentSize = contentSize
    }

    /// The bytes that the record takes, as ``Record/size`` counts them.
    public var size: Int64 { record.size + (contentSize ?? 0) }
}

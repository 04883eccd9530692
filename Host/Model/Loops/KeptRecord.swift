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

/// A download that is under way.
public struct TransferUnderWay: Hashable, Codable, Sendable {
    /// The sync record.
    public var record: SyncRecordID
    /// The path of the file.
    public var path: ItemPath
    /// The number of bytes that are here.
    public var bytes: Int64
    /// The size of the file, as the server reports it; nil if it does not.
    public var size: Int64?

    /// Creates a description of a download.
    public init(record: SyncRecordID, path: ItemPath, bytes: Int64, size: Int64?) {
        (self.record, self.path, self.bytes, self.size) = (record, path, bytes, size)
    }
}

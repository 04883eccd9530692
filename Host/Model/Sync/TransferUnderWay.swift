/// A download or an upload that is under way.
public struct TransferUnderWay: Hashable, Codable, Sendable {
    /// The direction of a transfer.
    public enum Direction: String, Codable, Sendable {
        case download, upload
    }

    /// The direction.
    public var direction: Direction
    /// The sync record.
    public var record: SyncRecordID
    /// The path of the file.
    public var path: ItemPath
    /// The number of bytes that are here, or that were sent.
    public var bytes: Int64
    /// The size of the file; nil if the server does not report that of a download.
    public var size: Int64?

    /// The part of the file that is here, or that was sent, 0 to 1; nil if that is not known.
    public var part: Double? {
        guard let size else { return nil }
        return size == 0 ? 1 : Double(bytes) / Double(size)
    }

    /// Creates a description of a transfer.
    public init(_ direction: Direction, record: SyncRecordID, path: ItemPath, bytes: Int64, size: Int64?) {
        (self.direction, self.record, self.path) = (direction, record, path)
        (self.bytes, self.size) = (bytes, size)
    }
}

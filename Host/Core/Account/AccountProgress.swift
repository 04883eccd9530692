import SyncEngine

/// Something that a running account does. The raw values are those in JSON output.
public enum AccountOccupation: String, Codable, Sendable {
    /// It asks the server what has changed.
    case listing
    /// The processors run.
    case policies
    /// Files are to be fetched, or are being fetched.
    case transfers
}

/// Progress of the downloads requested since the engine was last idle.
public struct TransferProgress: Hashable, Codable, Sendable {
    /// The number of files downloaded.
    public var filesDone: Int
    /// The number of files requested.
    public var filesTotal: Int
    /// The number of bytes downloaded.
    public var bytesDone: Int64
    /// The number of bytes requested.
    public var bytesTotal: Int64

    /// Creates progress from its parts.
    public init(filesDone: Int, filesTotal: Int, bytesDone: Int64, bytesTotal: Int64) {
        (self.filesDone, self.filesTotal) = (filesDone, filesTotal)
        (self.bytesDone, self.bytesTotal) = (bytesDone, bytesTotal)
    }

    init(_ progress: SyncProgress) {
        (filesDone, filesTotal) = (progress.filesDone, progress.filesTotal)
        (bytesDone, bytesTotal) = (progress.bytesDone, progress.bytesTotal)
    }
}

/// A snapshot that a command has made of a person's file.
public struct TakenSnapshot: Codable, Hashable, Sendable {
    /// The snapshot's name in `outgoing/`.
    public var name: String
    /// The size in bytes.
    public var size: Int64
    /// The SHA-256 digest of the content, 32 bytes.
    public var digest: [UInt8]
    /// The SHA-1 digest of the content, 20 bytes; empty if it was not computed.
    public var sha1: [UInt8]
    /// The modification time of the person's file.
    public var modified: Timestamp
    /// The snapshot's own mark. As long as the file has it, the content has the digests. Nil if it was not noted.
    public var mark: FileMark?
    /// The person's file, as an absolute path without symbolic links; nil if it was not noted.
    public var source: String?
    /// The version on the server that the person wants to replace, as text; nil if the person named none.
    public var replacing: String?

    /// Creates the facts about a snapshot.
    public init(name: String, size: Int64, digest: [UInt8], sha1: [UInt8], modified: Timestamp, mark: FileMark?) {
        self.name = name
        self.size = size
        self.digest = digest
        self.sha1 = sha1
        self.modified = modified
        self.mark = mark
    }

    /// Returns the facts about the snapshot with the version that the person wants to replace.
    public func replacing(_ version: String?) -> TakenSnapshot {
        var snapshot = self
        snapshot.replacing = version
        return snapshot
    }
}

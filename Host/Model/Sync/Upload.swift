/// The facts about an upload: the snapshot whose bytes are sent, and the version on the server that they replace.
public struct Upload: Hashable, Sendable {
    /// The snapshot's name in `outgoing/`.
    public var snapshot: String
    /// The snapshot's size in bytes.
    public var size: Int64
    /// The SHA-256 digest of the snapshot, 32 bytes.
    public var digest: [UInt8]
    /// The SHA-1 digest of the snapshot, 20 bytes, which servers of the ownCloud family compare.
    public var sha1: [UInt8]
    /// The file's modification time, which the server is asked to keep.
    public var modified: Timestamp?
    /// Whether nothing was known at the path when the upload was requested, so that its item is a placeholder.
    public var isNew: Bool
    /// The version that the upload replaces. Nil means: nothing for a new file, and otherwise the version that earlier
    /// actions leave.
    public var base: ETag?
    /// Whether a person has decided that whatever the server has is replaced.
    public var replacesAny = false

    /// Creates the facts.
    public init(
        snapshot: String, size: Int64, digest: [UInt8], sha1: [UInt8], modified: Timestamp?, isNew: Bool,
        base: ETag? = nil
    ) {
        self.snapshot = snapshot
        self.size = size
        self.digest = digest
        self.sha1 = sha1
        self.modified = modified
        self.isNew = isNew
        self.base = base
    }
}

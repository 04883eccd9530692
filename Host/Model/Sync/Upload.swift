/// The facts about an upload: the snapshot whose bytes are sent, and the version on the server that they replace.
public struct Upload: Hashable, Sendable {
    /// The snapshot's name in `outgoing/`.
    public var snapshot: String
    /// The snapshot's size in bytes.
    public var size: Int64
    /// The SHA-256 digest of the snapshot, 32 bytes.
    public var digest: [UInt8]
    /// The SHA-1 digest of the snapshot, 20 bytes, which servers of the ownCloud family compare; empty if it was not
    /// computed.
    public var sha1: [UInt8]
    /// The snapshot's mark when the digests were computed; nil if it was not noted.
    public var mark: FileMark?
    /// The file's modification time, which the server is asked to keep.
    public var modified: Timestamp?
    /// Whether nothing was known at the path when the upload was requested, so that its item is a placeholder.
    public var isNew: Bool
    /// The version that the upload replaces. Nil means: nothing for a new file, and otherwise the version that earlier
    /// actions leave.
    public var base: ETag?
    /// Whether the upload of a new version is to be a new file, because a person who was asked saw nothing at the path.
    public var followsNothing = false
    /// The person's file, of which the snapshot was taken; nil if that was not noted.
    public var source: String?
    /// The upload that an earlier attempt has begun on the server, and that can go on; nil if there is none.
    public var begun: ResumableUpload?

    /// Creates the facts.
    public init(
        snapshot: String, size: Int64, digest: [UInt8], sha1: [UInt8], mark: FileMark? = nil, modified: Timestamp?,
        isNew: Bool, base: ETag? = nil
    ) {
        self.snapshot = snapshot
        self.size = size
        self.digest = digest
        self.sha1 = sha1
        self.mark = mark
        self.modified = modified
        self.isNew = isNew
        self.base = base
    }
}

/// An upload that a server keeps open (TUS), so that it can go on where it was interrupted. It belongs to the snapshot of
/// the ``Upload`` that holds it.
public struct ResumableUpload: Hashable, Sendable {
    /// The upload's own address on the server. Whoever knows it may be able to write there, so it is never shown.
    public var address: String
    /// The path of the file that the upload becomes.
    public var path: ItemPath
    /// The version that the file is to follow; nil for a new file.
    public var base: ETag?

    /// Creates the facts.
    public init(address: String, path: ItemPath, base: ETag?) {
        self.address = address
        self.path = path
        self.base = base
    }
}

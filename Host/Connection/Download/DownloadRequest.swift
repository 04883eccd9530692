public import Model

/// The version of a file to download, and the number of its bytes that are here already.
public struct DownloadRequest: Sendable, Hashable {
    /// The version as it was listed; nil accepts any version. A strong ETag goes into `If-Match`. Every ETag is
    /// compared with the answer's.
    public var version: ETag?
    /// The listed size in bytes. An answer of another length is another version.
    public var size: Int64?
    /// The listed time of the last change. It proves a version only together with the size, where an ETag differs in the
    /// name of a content coding.
    public var lastModified: Timestamp?
    /// The listed media type, without parameters. It decides if neither version nor length identifies the answer.
    public var mimeType: String?
    /// The number of bytes that are here, all of exactly `version`. If the ETag is strong, the request asks for the
    /// rest with `Range` and `If-Range`. Otherwise the file is downloaded from its beginning.
    public var offset: Int64

    /// Creates a request for a download.
    public init(
        version: ETag? = nil, size: Int64? = nil, lastModified: Timestamp? = nil, mimeType: String? = nil,
        offset: Int64 = 0
    ) {
        self.version = version
        self.size = size
        self.lastModified = lastModified
        self.mimeType = mimeType
        self.offset = offset
    }
}

/// The facts that an answer tells about a file before the first byte.
public struct DownloadHead: Sendable, Hashable {
    /// The position in the file of the first byte: 0, or the requested offset. The bytes from this position on are to
    /// be replaced.
    public var offset: Int64
    /// The length of the whole file in bytes; nil if the server does not tell the length.
    public var size: Int64?
    /// The version to record for these bytes. It is the requested version, with which the answer was compared; without
    /// one the answer's own version, or else its substitute.
    public var version: ETag
    /// The time of the file's last change, if the server tells it.
    public var lastModified: Timestamp?
    /// The media type of the file, without parameters.
    public var mimeType: String?
    /// The checksums of the whole file (`OC-Checksum`).
    public var checksums: [ContentChecksum]
    /// Whether an interrupted download can go on after its last byte. The answer itself says by a strong ETag that it
    /// is the requested version, and tells how long the file is. Without both, the bytes count only when the file is
    /// complete.
    public var isResumable: Bool

    /// Creates the head of a download.
    public init(
        offset: Int64 = 0, size: Int64?, version: ETag, lastModified: Timestamp? = nil, mimeType: String? = nil,
        checksums: [ContentChecksum] = [], isResumable: Bool = false
    ) {
        self.offset = offset
        self.size = size
        self.version = version
        self.lastModified = lastModified
        self.mimeType = mimeType
        self.checksums = checksums
        self.isResumable = isResumable
    }
}

/// The result of a download.
public struct DownloadSummary: Sendable, Hashable {
    /// The head of the answer.
    public var head: DownloadHead
    /// The number of bytes that this request received.
    public var received: Int64
    /// The length of the whole file in bytes.
    public var size: Int64 { head.offset + received }
}

/// The destination of a download.
///
/// The calls come one after another in the task that called `Downloads.get`, on this task's executor. If the task
/// prefers an executor for threads that may block, the calls may block. Their errors end the download and are thrown on
/// unchanged.
public protocol DownloadSink {
    /// Called once, before the first bytes. A head whose `offset` is 0 replaces all bytes that are here.
    /// - Throws: The error that ends the download, such as `Failure` if there is no room for the file. No byte was
    ///   taken then.
    func begin(_ head: DownloadHead) throws
    /// Called with up to about 1 MiB at a time. The bytes are valid until the call returns.
    /// - Throws: The error that ends the download, such as `Failure` if the disk is full.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

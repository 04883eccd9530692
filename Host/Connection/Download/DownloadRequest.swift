public import Model

/// Which version of a file is asked for, and how much of it is here already.
public struct DownloadRequest: Sendable, Hashable {
    /// The version as it was listed; nil takes whatever is there. A strong ETag goes into `If-Match`; any is compared with the
    /// answer's.
    public var version: ETag?
    /// The listed size in bytes; an answer of another length is another version.
    public var size: Int64?
    /// The listed media type, without parameters. It counts where an answer has neither version nor length to be known by.
    public var mimeType: String?
    /// How many bytes are here of exactly `version`. The rest is asked for with `Range` and `If-Range`, if the ETag is strong;
    /// otherwise the file comes from its beginning.
    public var offset: Int64

    public init(version: ETag? = nil, size: Int64? = nil, mimeType: String? = nil, offset: Int64 = 0) {
        self.version = version
        self.size = size
        self.mimeType = mimeType
        self.offset = offset
    }
}

/// What an answer says of a file before its bytes come.
public struct DownloadHead: Sendable, Hashable {
    /// Where in the file the first byte belongs: 0, or the offset asked for. Bytes at and after it are to be replaced.
    public var offset: Int64
    /// The whole file's length in bytes; nil if the server does not say.
    public var size: Int64?
    /// The version to record for these bytes: the one asked for, which the answer was compared with, else the answer's own, else
    /// its substitute.
    public var version: ETag
    public var lastModified: Timestamp?
    /// The server's clock, to the second.
    public var date: Timestamp?
    public var mimeType: String?
    /// Checksums of the whole file (`OC-Checksum`).
    public var checksums: [ContentChecksum]
    /// Whether a part of what comes may be gone on with: the answer itself says by a strong ETag that it is the version asked
    /// for, and how long the file is. What comes with less counts only when it is whole.
    public var isResumable: Bool

    public init(
        offset: Int64 = 0, size: Int64?, version: ETag, lastModified: Timestamp? = nil, date: Timestamp? = nil,
        mimeType: String? = nil, checksums: [ContentChecksum] = [], isResumable: Bool = false
    ) {
        self.offset = offset
        self.size = size
        self.version = version
        self.lastModified = lastModified
        self.date = date
        self.mimeType = mimeType
        self.checksums = checksums
        self.isResumable = isResumable
    }
}

/// What came.
public struct DownloadSummary: Sendable, Hashable {
    public var head: DownloadHead
    /// Bytes received by this request.
    public var received: Int64
    /// The whole file's length in bytes.
    public var size: Int64 { head.offset + received }
}

/// Where a download goes.
///
/// The calls come one after another in the task that called `Connection.get`, on its executor: in a task with an executor
/// preference for threads that may block, they may block. What they throw ends the download and is thrown on as it is.
public protocol DownloadSink {
    /// Called once, before the first bytes. A head whose `offset` is 0 means: from the beginning, whatever was here.
    /// - Throws: What ends the download, such as `Failure` if there is no room for it. Nothing was taken then.
    func begin(_ head: DownloadHead) throws
    /// Called with up to about 1 MiB at a time; the bytes are valid until the call returns.
    /// - Throws: What ends the download, such as `Failure` if the disk is full.
    func write(_ bytes: UnsafeRawBufferPointer) throws
}

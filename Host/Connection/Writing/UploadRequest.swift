public import Model

/// The content of a file to upload, and the version that it is to follow on the server.
public struct UploadRequest: Hashable, Sendable {
    /// The version on the server that an upload follows. An upload never overwrites any other.
    public enum Base: Hashable, Sendable {
        /// Nothing is at the place (`If-None-Match: *`).
        case new
        /// This version is (`If-Match`, if the ETag is strong). Where the ETag is not, or the server does not heed the
        /// condition, the server is asked for its version just before.
        case version(ETag)
    }

    /// The version that the upload follows.
    public var base: Base
    /// The size in bytes.
    public var size: Int64
    /// The checksums of the content, as far as they are known. Servers of the ownCloud family get the strongest of those
    /// that they check, in `OC-Checksum`. The others help to recognise the content later.
    public var checksums: [ContentChecksum]
    /// The time of the file's last change (`X-OC-Mtime`).
    public var modified: Timestamp?
    /// The media type; nil leaves it to the server.
    public var mimeType: String?

    /// Creates the request.
    public init(
        base: Base, size: Int64, checksums: [ContentChecksum] = [], modified: Timestamp? = nil, mimeType: String? = nil
    ) {
        self.base = base
        self.size = size
        self.checksums = checksums
        self.modified = modified
        self.mimeType = mimeType
    }
}

/// A file that is read while it is uploaded.
///
/// The calls come one after another, and may block on the disk: `Writes.put` makes them on a thread that may block.
/// A request may have to be sent again from its beginning, so positions may go back to 0.
public protocol UploadSource: Sendable {
    /// The size in bytes for as long as the upload takes.
    var size: Int64 { get }
    /// Reads bytes of the file from a position on.
    /// - Returns: The number of bytes that were read; 0 at the end of the file. A file that ends too soon ends the
    ///   request: it is never filled up.
    /// - Throws: The reason why the file cannot be read. The request ends.
    func read(at offset: Int64, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
    /// Called before the last bytes are sent, when all have been read. The server keeps the file only when it has the
    /// last bytes.
    /// - Throws: The reason why what was read is not one version of the file, if it is known to have changed.
    func check() throws
}

extension UploadSource {
    /// Checks that nothing follows the last byte.
    public func check() throws {
        let more = try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { try read(at: size, into: $0) }
        if more > 0 { throw Failure(.failed, "the file has grown while it was uploaded") }
    }
}

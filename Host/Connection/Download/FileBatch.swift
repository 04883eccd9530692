public import Model

/// A batch of small files to download, as plain values: the texts lie in one block of bytes.
///
///     var batch = FileBatch()
///     batch.add(path: "/Photos/a.jpg", version: "v1", size: 512)
public struct FileBatch: Sendable {
    /// A part of the block.
    public struct Text: Hashable, Sendable {
        var start: Int32
        var count: Int32
    }

    /// A file.
    public struct File: Hashable, Sendable {
        /// The path, not encoded.
        var path: Text
        /// The opaque part of the strong ETag.
        var version: Text
        /// The size in bytes.
        public var size: Int64
    }

    /// The files, in the order in which they are requested.
    public private(set) var files: [File] = []
    private var texts: [UInt8] = []

    /// Creates an empty batch.
    public init() {}

    /// Adds a file.
    /// - Parameters:
    ///   - path: The path, not encoded, with a slash at its beginning.
    ///   - version: The opaque part of the strong ETag that the file must have.
    ///   - size: The number of bytes that the file must have.
    /// - Returns: False if the ETag cannot stand in a header field. Nothing is added then.
    public mutating func add(path: UnsafeRawBufferPointer, version: UnsafeRawBufferPointer, size: Int64) -> Bool {
        guard Self.takes(version: version), texts.count + path.count + version.count < Int(Int32.max)
        else { return false }
        files.append(File(path: append(path), version: append(version), size: size))
        return true
    }

    /// Tells whether the opaque part of an ETag can stand in a header field.
    public static func takes(version: some Sequence<UInt8>) -> Bool {
        version.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) -> Text {
        defer { texts.append(contentsOf: bytes) }
        return Text(start: Int32(texts.count), count: Int32(bytes.count))
    }

    /// The bytes of a text.
    func bytes(of text: Text) -> ArraySlice<UInt8> { texts[Int(text.start)..<Int(text.start + text.count)] }

    /// Calls a function with the path and the version of a file.
    public func withTexts(
        of file: Int, _ body: (_ path: UnsafeRawBufferPointer, _ version: UnsafeRawBufferPointer) -> Void
    ) {
        bytes(of: files[file].path).withUnsafeBytes { path in
            bytes(of: files[file].version).withUnsafeBytes { body(path, $0) }
        }
    }

    /// Returns the path of a file.
    public func path(of file: Int) -> ItemPath {
        ItemPath(unchecked: String(decoding: bytes(of: files[file].path), as: UTF8.self))
    }

    /// Returns the version of a file.
    public func version(of file: Int) -> ETag {
        ETag(opaque: String(decoding: bytes(of: files[file].version), as: UTF8.self), strength: .strong)
    }
}

/// The way in which the request of a file of a batch has ended.
public enum FileBatchEnd: Sendable {
    /// The whole file was taken, in an answer that says by ETag and length that it is the file.
    case complete
    /// An answer with which ``Downloads/get(_:request:after:into:)`` goes on, or the lack of one.
    case first(FirstAnswer)
    /// An answer that ended early, or of which not all was taken.
    case brokenOff
    /// An end on demand.
    case cancelled
}

/// Whether the request of a file of a batch may begin.
public enum FileBatchStart: Sendable {
    case now
    /// When ``FileBatchRun/goOn()`` is called, or another request of the batch has ended.
    case later
    /// Not at all.
    case never
}

/// The one who wants the files of a batch. All functions are called on one thread for downloads, and may block on the
/// disk.
public protocol FileBatchReceiver: AnyObject, Sendable {
    /// Tells whether a file may be requested.
    func mayStart(_ file: Int) -> FileBatchStart
    /// Begins to take a file from its first byte on.
    /// - Parameters:
    ///   - place: The number of the place at which the file comes, at most the width of the connection. At each place one
    ///     file comes after the other.
    ///   - sha1: The SHA-1 that the file must have; nil if the server tells none.
    /// - Returns: False if the answer is to be treated as one that is not ordinary.
    func begin(_ file: Int, at place: Int, sha1: [UInt8]?) -> Bool
    /// Takes bytes.
    /// - Returns: False if no more can be taken.
    func take(_ bytes: UnsafeRawBufferPointer, of file: Int, at place: Int) -> Bool
    /// Notes how the request of a file ended that was allowed to start.
    func end(_ file: Int, at place: Int, _ end: FileBatchEnd)
    /// Notes that no request of the batch is under way any more. Files that were not allowed to start, or about which
    /// nobody asked, were not requested.
    func ended()
}

/// The requests of a batch that are under way. All functions may be called from any thread.
public protocol FileBatchRun: AnyObject, Sendable {
    /// Begins requests that the receiver had put off.
    func goOn()
    /// Starts no more requests. Those under way go on.
    func stop()
    /// Ends the request of a file, if it is under way.
    func end(_ file: Int)
    /// Starts no more requests, and ends those under way.
    func cancel()
}

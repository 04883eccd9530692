import CLinux
import Digests
import Glibc
public import Model
import Synchronization

/// A place at which small downloads come in one after the other. Each is a new file in `incoming/`, with the SHA-256 of
/// its bytes computed as they come. One place costs less than an ``IncomingFile`` for each download. The object belongs
/// to one thread at a time.
///
///     let place = try tree.incomingPlaces()[0]
///     guard place.begin("12-3f") else { … }
///     try place.append(bytes)
///     let file = try place.finish(modified: time)
public final class IncomingPlace {
    private let folder: OpenFolder
    private let tree: Tree
    private var file: Descriptor?
    private var name = ""
    private var size: Int64 = 0
    private var failures = 0
    private var sha256 = MessageDigest(.sha256)
    private var sha1 = MessageDigest(.sha1)
    private var expected: [UInt8]?

    init(_ folder: OpenFolder, of tree: Tree) { (self.folder, self.tree) = (folder, tree) }

    /// Begins a download.
    /// - Parameters:
    ///   - name: The file's name in `incoming/`.
    ///   - sha1: The SHA-1 that the content must have; nil to compute none.
    /// - Returns: False if there is a file with this name, or none can be made.
    public func begin(_ name: String, sha1 expected: [UInt8]? = nil) -> Bool {
        leave()
        guard Tree.isIncomingName(name) else { return false }
        // Before the file is there: a failure removes what is there, and is counted after that.
        failures = tree.failures.load(ordering: .sequentiallyConsistent)
        let number = openat(folder.number, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { return false }
        file = Descriptor(number)
        (self.name, self.expected, size) = (name, expected, 0)
        sha256.restart()
        if expected != nil { sha1.restart() }
        return true
    }

    /// Appends bytes.
    /// - Throws: `.localIO` if the disk is full or writing fails. The file then still holds a beginning of the content.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        let number = file?.number ?? -1
        var done = 0
        while done < bytes.count {
            let count = pwrite(number, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(size))
            if count < 0 {
                if errno == EINTR { continue }
                throw .system("writing incoming/\(name)", errno)
            }
            done += count
            size += Int64(count)
        }
        sha256.update(bytes)
        if expected != nil { sha1.update(bytes) }
    }

    /// Completes the file as ``IncomingFile/finish(modified:)`` does.
    /// - Returns: What is known of the file; nil if its content does not have the expected SHA-1.
    /// - Throws: `.localIO` if the time cannot be set or the file's status cannot be read.
    public func finish(modified: Timestamp) throws(Failure) -> IncomingResult? {
        defer { leave() }
        let number = file?.number ?? -1
        if let expected {
            var sum = [UInt8](repeating: 0, count: 20)
            sum.withUnsafeMutableBytes { sha1.take(into: $0) }
            guard sum == expected else { return nil }
        }
        guard setTime(modified, of: number) else { throw .system("setting the time of incoming/\(name)", errno) }
        guard let info = file?.status() else { throw .system("reading incoming/\(name)", errno) }
        var digest = IncomingResult.Digest()
        withUnsafeMutableBytes(of: &digest) { sha256.take(into: $0) }
        return IncomingResult(digest: digest, mark: FileMark(info, now: tree.clock()), failures: failures)
    }

    /// Leaves the file as it is.
    public func leave() { file = nil }
}

/// A complete file in `incoming/`. A plain value.
public struct IncomingResult: Hashable, Sendable {
    /// The 32 bytes of a SHA-256.
    public struct Digest: Hashable, Sendable {
        private var first: UInt64 = 0
        private var second: UInt64 = 0
        private var third: UInt64 = 0
        private var fourth: UInt64 = 0

        init() {}

        fileprivate init?(_ bytes: [UInt8]) {
            guard bytes.count == MemoryLayout<Self>.size else { return nil }
            withUnsafeMutableBytes(of: &self) { $0.copyBytes(from: bytes) }
        }

        /// The bytes.
        public var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
    }

    /// The SHA-256 of the content.
    public var digest: Digest
    /// The file's mark in `incoming/`.
    public var mark: FileMark
    /// The number of failed writes to the disk when the file was opened.
    var failures: Int

    /// Creates the description of a file that others describe; nil if its digest is no SHA-256.
    public init?(_ file: CompletedFile) {
        guard let digest = Digest(file.digest) else { return nil }
        (self.digest, mark, failures) = (digest, file.mark, file.failures)
    }

    init(digest: Digest, mark: FileMark, failures: Int) {
        (self.digest, self.mark, self.failures) = (digest, mark, failures)
    }

    /// Returns the file as others describe it.
    public func file(named name: String) -> CompletedFile {
        CompletedFile(name: name, digest: digest.bytes, others: [:], mark: mark, failures: failures)
    }
}

extension Tree {
    /// Returns places at which small downloads come in.
    /// - Throws: `.localIO` if `incoming/` cannot be opened.
    public func incomingPlaces() throws(Failure) -> IncomingPlaces {
        IncomingPlaces(OpenFolder(try staging.openIncoming()), of: self)
    }

    /// Tells whether no write to the disk has failed since the file was opened, as ``isBelieved(_:)``.
    public func isBelieved(_ file: IncomingResult) -> Bool {
        file.failures == failures.load(ordering: .sequentiallyConsistent)
    }
}

/// The places of a batch, made when they are needed. The object belongs to one thread at a time.
public final class IncomingPlaces {
    private let folder: OpenFolder
    private let tree: Tree
    private var places: [IncomingPlace] = []

    init(_ folder: OpenFolder, of tree: Tree) { (self.folder, self.tree) = (folder, tree) }

    /// The place with a number.
    public subscript(number: Int) -> IncomingPlace {
        while places.count <= number { places.append(IncomingPlace(folder, of: tree)) }
        return places[number]
    }
}

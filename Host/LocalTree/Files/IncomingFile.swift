import CLinux
import Glibc
public import Model

/// A file that is being downloaded. Its bytes are appended, and hashed as they arrive.
///
/// The object belongs to one task at a time. When the object ends without ``finish(modified:)`` or ``abandon()``, the
/// received bytes stay in `incoming/`, so that the download can be continued.
public final class IncomingFile {
    /// The file's name in `incoming/`.
    public private(set) var name: String
    /// The number of bytes in the file.
    public private(set) var size: Int64 = 0
    private let folder: Descriptor
    private let file: Descriptor
    private var hash = ContentHash()
    /// The number of bytes that the disk was told to write.
    private var written: Int64 = 0
    private let failures: Int
    private let clock: @Sendable () -> Timestamp

    /// The number of bytes that are sent to the disk at a time while others arrive. The sync at the end of a large file
    /// then has little left to write.
    private static let writtenAtOnce: Int64 = 8 << 20

    /// Opens or creates the file with this name, and hashes its content.
    /// - Parameter failures: The number of failed writes to the disk so far.
    init(
        _ name: String, in folder: consuming Descriptor, failures: Int, clock: @escaping @Sendable () -> Timestamp
    ) throws(Failure) {
        self.name = name
        self.failures = failures
        self.clock = clock
        let number = openat(folder.number, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system("opening incoming/\(name)", errno) }
        file = Descriptor(number)
        self.folder = folder
        try hashWhatIsThere()
    }

    /// Sets the checksums that ``finish(modified:)`` computes beside SHA-256. This function is best called before the
    /// first byte arrives, since it reads the existing content again.
    /// - Throws: `.localIO` if the existing content cannot be read.
    public func compute(_ algorithms: [ChecksumAlgorithm]) throws(Failure) {
        guard algorithms.contains(where: { $0 != .sha256 }) else { return }
        hash = ContentHash(also: algorithms)
        try hashWhatIsThere(also: algorithms)
    }

    /// Appends bytes.
    /// - Throws: `.localIO` if the disk is full or writing fails. The file then still holds a beginning of the content.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(file.number, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(size))
            if count < 0 {
                if errno == EINTR { continue }
                throw .system("writing incoming/\(name)", errno)
            }
            hash.update(UnsafeRawBufferPointer(rebasing: bytes[done..<done + count]))
            done += count
            size += Int64(count)
        }
        if size - written >= Self.writtenAtOnce {
            // The call does not wait, and nothing depends on its result. The later sync writes what is left and reports
            // failures.
            _ = linux_begin_writing(file.number, off_t(written), off_t(size - written))
            written = size
        }
    }

    /// Drops the received bytes, so that the file begins again.
    /// - Parameter algorithms: The checksums to compute beside SHA-256.
    /// - Throws: `.localIO` if the file cannot be emptied.
    public func restart(computing algorithms: [ChecksumAlgorithm] = []) throws(Failure) {
        // Some file systems write a file to the disk when it is closed after it was emptied. An empty file is therefore
        // not emptied again.
        guard size == 0 || ftruncate(file.number, 0) == 0 else { throw .system("emptying incoming/\(name)", errno) }
        size = 0
        written = 0
        hash = ContentHash(also: algorithms)
    }

    /// Completes the file and sets its modification time. Its bytes are not certain to be on the disk before
    /// `Tree.syncData()`.
    /// - Parameter modified: The server's modification time; nil to take the clock's time.
    /// - Throws: `.localIO` if the time cannot be set or the file's status cannot be read.
    public func finish(modified: Timestamp?) throws(Failure) -> CompletedFile {
        // The time is always set explicitly, so that a later write by anybody changes it.
        guard setTime(modified ?? clock(), of: file.number) else {
            throw .system("setting the time of incoming/\(name)", errno)
        }
        guard let info = file.status() else { throw .system("reading incoming/\(name)", errno) }
        return CompletedFile(
            name: name, digest: hash.digest, others: hash.others, mark: FileMark(info, now: clock()),
            failures: failures)
    }

    /// Renames the file in `incoming/`. No other file in use may have the new name.
    /// - Throws: `.localIO` if the file cannot be renamed. The file then keeps its old name.
    public func rename(to other: String) throws(Failure) {
        guard renameat(folder.number, name, folder.number, other) == 0 else {
            throw .system("renaming incoming/\(name)", errno)
        }
        name = other
    }

    /// Removes the file.
    public func abandon() { unlinkat(folder.number, name, 0) }

    private func hashWhatIsThere(also algorithms: [ChecksumAlgorithm] = []) throws(Failure) {
        guard let info = file.status() else { throw .system("reading incoming/\(name)", errno) }
        // Usually the file was created just now.
        guard info.st_size > 0 else { return }
        var hash = ContentHash(also: algorithms)
        var size: Int64 = 0
        let read = readAll(file.number) { piece in
            hash.update(piece)
            size += Int64(piece.count)
            return true
        }
        guard read != nil else { throw .system("reading incoming/\(name)", errno) }
        self.hash = hash
        self.size = size
        written = size
    }
}

/// Sets the modification time of an open file, and leaves its access time.
/// - Returns: False with `errno` on failure.
func setTime(_ time: Timestamp, of file: Int32) -> Bool {
    let seconds = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    var spec = timespec(tv_sec: Int(seconds.quotient), tv_nsec: Int(seconds.remainder))
    if spec.tv_nsec < 0 { spec = timespec(tv_sec: spec.tv_sec - 1, tv_nsec: spec.tv_nsec + 1_000_000_000) }
    var times = [timespec(tv_sec: 0, tv_nsec: linux_utime_omit), spec]
    return futimens(file, &times) == 0
}

/// A complete file in `incoming/`, ready to be put in place.
public struct CompletedFile: Hashable, Sendable {
    /// The file's name in `incoming/`.
    public var name: String
    /// The SHA-256 of the content, 32 bytes.
    public var digest: [UInt8]
    /// The requested checksums beside the digest.
    public var others: [ChecksumAlgorithm: [UInt8]]
    /// The file's mark in `incoming/`.
    public var mark: FileMark
    /// The number of failed writes to the disk when the file was opened.
    var failures = 0

    /// The size in bytes.
    public var size: Int64 { mark.size }

    /// Returns a checksum of the content; nil if it was not requested.
    public func checksum(_ algorithm: ChecksumAlgorithm) -> [UInt8]? {
        algorithm == .sha256 ? digest : others[algorithm]
    }
}

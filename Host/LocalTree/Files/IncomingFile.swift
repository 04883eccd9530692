import CLinux
import Glibc
public import Model

/// A file that is being downloaded: bytes are appended, and hashed as they come.
///
/// It belongs to one task at a time. When the value ends without ``finish(modified:)`` or ``abandon()``, what came stays in
/// `incoming/`, to go on with.
public final class IncomingFile {
    /// Its name in `incoming/`.
    public private(set) var name: String
    /// How many bytes are there.
    public private(set) var size: Int64 = 0
    private let folder: Int32
    private let file: Descriptor
    private var hash = ContentHash()
    /// How many bytes the disk was asked to write.
    private var written: Int64 = 0
    private let failures: Int
    private let clock: @Sendable () -> Timestamp

    /// So many bytes at a time go to the disk while others come: the sync at the end of a large file finds little left to write.
    private static let writtenAtOnce: Int64 = 8 << 20

    /// Opens the file with this name, or makes it, and hashes what is there.
    /// - Parameter failures: How often writing to the disk has failed until now.
    init(
        _ name: String, in folder: Int32, failures: Int, clock: @escaping @Sendable () -> Timestamp
    ) throws(Failure) {
        self.name = name
        self.folder = folder
        self.failures = failures
        self.clock = clock
        let number = openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system("opening incoming/\(name)", errno) }
        file = Descriptor(number)
        try hashWhatIsThere()
    }

    /// Which checksums ``finish(modified:)`` tells beside SHA-256. Best called before the first byte: what is there already is
    /// read again.
    /// - Throws: `.localIO` if what is there already cannot be read.
    public func compute(_ algorithms: Set<ChecksumAlgorithm>) throws(Failure) {
        guard !algorithms.isSubset(of: [.sha256]) else { return }
        hash = ContentHash(also: algorithms)
        try hashWhatIsThere(also: algorithms)
    }

    /// Appends bytes.
    /// - Throws: `.localIO` when the disk is full or writing fails; what is there then is still a beginning of the file.
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
            // Not waited for, and nothing depends on it: the sync writes what is not written by then, and tells of failures.
            _ = linux_begin_writing(file.number, off_t(written), off_t(size - written))
            written = size
        }
    }

    /// Drops what came: the file begins again.
    /// - Throws: `.localIO` if the file cannot be emptied.
    public func restart(computing algorithms: Set<ChecksumAlgorithm> = []) throws(Failure) {
        // A file that was emptied is written to the disk when it is closed, by some file systems: never for nothing.
        guard size == 0 || ftruncate(file.number, 0) == 0 else { throw .system("emptying incoming/\(name)", errno) }
        size = 0
        written = 0
        hash = ContentHash(also: algorithms)
    }

    /// The file is whole. It gets its modification time; the bytes are not on the disk before `Tree.syncData()`.
    /// - Parameter modified: The server's modification time; nil takes the clock's.
    /// - Throws: `.localIO` if the time cannot be set or the file's looks cannot be read.
    public func finish(modified: Timestamp?) throws(Failure) -> CompletedFile {
        // Always a time that was set: a later write by anybody shows as another one.
        let time = (modified ?? clock()).nanoseconds
        let seconds = time.quotientAndRemainder(dividingBy: 1_000_000_000)
        var spec = timespec(tv_sec: Int(seconds.quotient), tv_nsec: Int(seconds.remainder))
        if spec.tv_nsec < 0 { spec = timespec(tv_sec: spec.tv_sec - 1, tv_nsec: spec.tv_nsec + 1_000_000_000) }
        var times = [timespec(tv_sec: 0, tv_nsec: linux_utime_omit), spec]
        guard futimens(file.number, &times) == 0 else { throw .system("setting the time of incoming/\(name)", errno) }
        guard let info = file.status() else { throw .system("reading incoming/\(name)", errno) }
        return CompletedFile(
            name: name, digest: hash.digest, checksums: hash.checksums, mark: FileMark(info, now: clock()),
            failures: failures)
    }

    /// Gives the file another name in `incoming/`, one that no other file in use has.
    /// - Throws: `.localIO` if it cannot be renamed; it has its old name then.
    public func rename(to other: String) throws(Failure) {
        guard renameat(folder, name, folder, other) == 0 else { throw .system("renaming incoming/\(name)", errno) }
        name = other
    }

    /// Removes the file.
    public func abandon() { unlinkat(folder, name, 0) }

    private func hashWhatIsThere(also algorithms: Set<ChecksumAlgorithm> = []) throws(Failure) {
        guard let info = file.status() else { throw .system("reading incoming/\(name)", errno) }
        // Usually it was made just now.
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

/// A file in `incoming/` that is whole, ready to be put in place.
public struct CompletedFile: Hashable, Sendable {
    /// Its name in `incoming/`.
    public var name: String
    /// SHA-256, 32 bytes.
    public var digest: [UInt8]
    /// Those that were asked for, and SHA-256.
    public var checksums: [ChecksumAlgorithm: [UInt8]]
    /// Its looks in `incoming/`.
    public var mark: FileMark
    /// How often writing to the disk had failed when it was opened.
    var failures = 0

    /// In bytes.
    public var size: Int64 { mark.size }
}

import Glibc

/// What tells a file that was written from what it was before.
struct FileStamp: Equatable, Sendable {
    private let device, inode: UInt64
    private let size, seconds, nanoseconds: Int64

    /// Reads a file's stamp. Blocks.
    /// - Parameter evenEmpty: Whether an empty file has a stamp.
    /// - Returns: nil if there is no file, or it is empty.
    init?(_ path: String, evenEmpty: Bool = false) {
        var info = stat()
        guard stat(path, &info) == 0, evenEmpty || info.st_size > 0 else { return nil }
        (device, inode, size) = (UInt64(info.st_dev), UInt64(info.st_ino), Int64(info.st_size))
        (seconds, nanoseconds) = (Int64(info.st_mtim.tv_sec), Int64(info.st_mtim.tv_nsec))
    }
}

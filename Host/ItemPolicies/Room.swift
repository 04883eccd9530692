import Glibc
import Model

/// The size of a file system.
struct Room {
    /// The bytes that the user may still fill.
    let free: Int64
    /// The bytes of the whole file system.
    let total: Int64

    /// Reads the size of the file system that holds a folder.
    init(ofFolder folder: String) throws(Failure) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else {
            throw Failure(.localIO, "The folder \(folder) cannot be reached: \(String(cString: strerror(errno)))")
        }
        free = Self.bytes(UInt64(status.f_bavail), of: UInt64(status.f_frsize))
        total = Self.bytes(UInt64(status.f_blocks), of: UInt64(status.f_frsize))
    }

    /// Returns a number of blocks in bytes, limited to the largest number: some file systems in user space report a
    /// larger size.
    private static func bytes(_ blocks: UInt64, of size: UInt64) -> Int64 {
        let (bytes, overflow) = blocks.multipliedReportingOverflow(by: size)
        return overflow ? .max : Int64(clamping: bytes)
    }
}

import Glibc
import Model

/// How large a file system is.
struct Room {
    /// What the user may still fill, and all, in bytes.
    let free: Int64
    let total: Int64

    /// Of the file system that a folder is on.
    init(ofFolder folder: String) throws(Failure) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else {
            throw Failure(.localIO, "The folder \(folder) cannot be reached: \(String(cString: strerror(errno)))")
        }
        free = Self.bytes(UInt64(status.f_bavail), of: UInt64(status.f_frsize))
        total = Self.bytes(UInt64(status.f_blocks), of: UInt64(status.f_frsize))
    }

    /// Some file systems in user space say that they are larger than any number.
    private static func bytes(_ blocks: UInt64, of size: UInt64) -> Int64 {
        let (bytes, overflow) = blocks.multipliedReportingOverflow(by: size)
        return overflow ? .max : Int64(clamping: bytes)
    }
}

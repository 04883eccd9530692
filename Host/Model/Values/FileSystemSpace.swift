package import Glibc

/// The size of a file system and the part of it that is free.
public struct FileSystemSpace: Hashable, Sendable {
    /// The bytes that the user may still fill.
    public var free: Int64
    /// The bytes of the whole file system.
    public var total: Int64

    /// Creates a size.
    public init(free: Int64, total: Int64) {
        self.free = free
        self.total = total
    }

    /// Creates a size from what the system tells.
    package init(_ status: statvfs) {
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

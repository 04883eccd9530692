import Glibc
public import Model

extension Tree {
    /// The number of the device that holds the copies and `incoming/`; 0 if the system does not tell it.
    public var device: UInt64 {
        var status = stat()
        return fstat(folder.number, &status) == 0 ? UInt64(status.st_dev) : 0
    }

    /// The size of the file system that holds the copies and `incoming/`; nil if the system does not tell it.
    public var space: FileSystemSpace? {
        if let space = hooks.space { return space() }
        var status = statvfs()
        // Some file systems in user space tell nothing but zeros.
        guard fstatvfs(folder.number, &status) == 0, status.f_blocks > 0 else { return nil }
        return FileSystemSpace(status)
    }
}

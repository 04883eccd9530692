import Glibc
import Model

extension FileMark {
    /// Creates the mark of a file from its status, recorded at `now`.
    init(_ info: stat, now: Timestamp) {
        self.init(
            inode: UInt64(info.st_ino), size: Int64(info.st_size), modified: Timestamp(info.st_mtim),
            changed: Timestamp(info.st_ctim), recorded: now)
    }

    /// Tells whether both marks have the same inode, size and modification time, which a rename does not change.
    func hasContent(like other: FileMark) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}

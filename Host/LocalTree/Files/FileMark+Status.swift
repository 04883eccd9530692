import Glibc
import Model

extension FileMark {
    /// The looks in what the file system says, recorded at `now`.
    init(_ info: stat, now: Timestamp) {
        self.init(
            inode: UInt64(info.st_ino), size: Int64(info.st_size), modified: Timestamp(info.st_mtim),
            changed: Timestamp(info.st_ctim), recorded: now)
    }

    /// Whether both are the same file with content of the same looks; a rename changes neither.
    func hasContent(like other: FileMark) -> Bool {
        inode == other.inode && size == other.size && modified == other.modified
    }
}

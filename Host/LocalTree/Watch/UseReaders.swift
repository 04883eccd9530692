import Glibc
import Model

/// The programs that open files of the tree, if the opens of some programs, such as a backup's, do not count.
///
/// The kernel reports an open, but not the program. `/proc` shows a moment later which programs have the file open. An
/// open does not count if a listed program has the file open. If no program has the file open any more, the open is
/// taken for a listed program's as long as one runs.
public struct UseReaders: Sendable {
    /// Names as in `/proc/PID/comm`, which holds at most 15 bytes.
    private let ignored: Set<String>

    /// Creates the list of programs whose opens do not count, by their names.
    public init(ignoring names: [String]) {
        ignored = Set(names.map { String(decoding: $0.utf8.prefix(15), as: UTF8.self) })
    }

    /// Whether all programs' opens count, and so do access times.
    public var countAll: Bool { ignored.isEmpty }

    /// Returns the files whose opens count. The function inspects all processes once.
    func counting(_ files: [ItemPath: FileNumber]) -> Set<ItemPath> {
        guard !countAll, !files.isEmpty else { return Set(files.keys) }
        let wanted = Set(files.values)
        var holders: [FileNumber: (listed: Bool, others: Bool)] = [:]
        var isOneRunning = false
        for process in OpenFiles.processes() where process != getpid() {
            let isListed = ignored.contains(Self.name(of: process))
            isOneRunning = isOneRunning || isListed
            for file in OpenFiles.files(of: process) where wanted.contains(file) {
                if isListed {
                    holders[file, default: (false, false)].listed = true
                } else {
                    holders[file, default: (false, false)].others = true
                }
            }
        }
        return Set(
            files.filter { _, file in
                let holder = holders[file] ?? (false, false)
                return !holder.listed && (holder.others || !isOneRunning)
            }.keys)
    }

    private static func name(of process: pid_t) -> String {
        let file = Descriptor(open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC))
        return file.number < 0 ? "" : readText(file.number, limit: 64)
    }
}

/// A file's device and inode.
struct FileNumber: Hashable {
    var device: UInt64
    var inode: UInt64

    init(_ info: stat) {
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
    }
}

import Glibc
import Model

/// Who opens files of the tree, when some programs' opens do not count, such as a backup's.
///
/// The kernel tells of an open, not of who it was. `/proc` tells who has the file open a moment later. What a listed program has
/// open is its own; what nobody has open any more is taken for a listed program's as long as one runs.
public struct UseReaders: Sendable {
    /// Names as in `/proc/PID/comm`, which holds 15 bytes at most.
    private let ignored: Set<String>

    public init(ignoring names: [String]) {
        ignored = Set(names.map { String(decoding: $0.utf8.prefix(15), as: UTF8.self) })
    }

    /// Everybody's opens count, and so do access times.
    public var countAll: Bool { ignored.isEmpty }

    /// Those of the files whose opens count. Looks through all processes once.
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

/// A file by its numbers.
struct FileNumber: Hashable {
    var device: UInt64
    var inode: UInt64

    init(_ info: stat) {
        device = UInt64(info.st_dev)
        inode = UInt64(info.st_ino)
    }
}

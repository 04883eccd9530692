import CLinux
import Database
import Glibc
import LocalTree
import Model
import Synchronization

/// Keeps a second host from a vault. The kernel ends the lock with the process, however it ends.
///
/// The vault's folder itself is locked: that lock does not go with a file that somebody deletes. The file `lock` is locked too, as
/// hosts of older versions do, and names the process. The database is no place for a lock: SQLite's own would go with the descriptor.
final class VaultLock: Sendable {
    private struct Held {
        var folder: Int32
        var file: Int32
    }

    private let held: Mutex<Held?>

    /// - Throws: `.vaultLocked`, with the holder's process id.
    init(of vault: String) throws(Failure) {
        let path = vault + "/lock"
        let folder = open(vault, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .system("opening \(vault)", errno) }
        // Some network file systems lock no folders: there the file has to do.
        guard flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            let holder = Self.holder(named: path, ofFolder: folder)
            close(folder)
            throw Self.inUse(vault, by: holder)
        }
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            let code = errno
            close(folder)
            throw .system("opening \(path)", code)
        }
        // A lock of the open file: it does not go when some other part of this process opens and closes the same file.
        guard linux_lock_open_file(number) == 0 else {
            let code = errno
            let holder = Int32(readText(number, limit: 32))
            close(number)
            close(folder)
            guard code == EAGAIN || code == EACCES else { throw .system("locking \(path)", code) }
            throw Self.inUse(vault, by: holder)
        }
        // Only for the message above: whose lock it is, the kernel knows.
        ftruncate(number, 0)
        let pid = "\(getpid())\n"
        _ = pwrite(number, pid, pid.utf8.count, 0)
        held = Mutex(Held(folder: folder, file: number))
    }

    func release() {
        held.withLock { held in
            guard let locks = held.take() else { return }
            // A child that is just being started has the open files too until it runs its program: closing would not be enough.
            _ = linux_unlock_open_file(locks.file)
            close(locks.file)
            flock(locks.folder, LOCK_UN)
            close(locks.folder)
        }
    }

    deinit { release() }

    private static func inUse(_ vault: String, by holder: Int32?) -> Failure {
        let process = holder.map { " (process \($0))" } ?? ""
        return Failure(
            .vaultLocked, "The vault \(vault) is in use by another Larder\(process)",
            hint: "Stop it, or wait until it has ended; `ls`, `stat`, `status` and the lists work beside it")
    }

    /// The process that has a folder locked: as the kernel says, else as the file says, which may have been deleted.
    private static func holder(named file: String, ofFolder folder: Int32) -> Int32? {
        if let holder = FolderLocks.holder(of: folder) { return holder }
        let number = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        defer { close(number) }
        return Int32(readText(number, limit: 32))
    }
}

/// The kernel's list of locks (proc_locks(5)), where it shows them.
enum FolderLocks {
    /// The process that has an open folder locked whole with `flock`; nil: none, or the kernel does not tell.
    static func holder(of folder: Int32) -> Int32? {
        var info = stat()
        guard fstat(folder, &info) == 0 else { return nil }
        let file = Descriptor(open("/proc/locks", O_RDONLY | O_CLOEXEC))
        var bytes: [UInt8] = []
        let isRead: Bool? =
            file.number < 0
            ? nil
            : readAll(file.number) { piece in
                bytes += piece
                return true
            }
        guard isRead != nil else { return nil }
        let device = UInt64(info.st_dev)
        let (major, minor) = (device >> 8 & 0xfff | device >> 32 & ~0xfff, device & 0xff | device >> 12 & ~0xff)
        let list = String(decoding: bytes, as: UTF8.self)
        for line in list.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 4711 fe:01:131 0 EOF; one that is waited for has an arrow before its kind.
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK", words[3] == "WRITE", let process = Int32(words[4]), process > 0
            else { continue }
            let place = words[5].split(separator: ":")
            guard place.count == 3, UInt64(place[0], radix: 16) == major,
                UInt64(place[1], radix: 16) == minor & 0xffff_ffff,
                place[2] == "\(info.st_ino)"
            else { continue }
            return process
        }
        return nil
    }
}

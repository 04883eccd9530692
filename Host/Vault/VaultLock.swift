import CLinux
import Database
import Glibc
import LocalTree
package import Model
import Synchronization

/// A lock that keeps a second host out of a vault. The kernel releases the lock when the process ends, however it ends.
///
/// The vault's folder itself is locked, so the lock does not vanish when somebody deletes a file. The file `lock` is
/// locked too, because hosts of older versions lock that file. It also says who holds the lock; see ``VaultHolder``. The
/// database file cannot serve as the lock: closing the lock's descriptor would release SQLite's own locks.
final class VaultLock: Sendable {
    /// The vault's folder.
    let folder: OpenFolder
    /// The locked file; nil after the release.
    private let file: Mutex<Int32?>

    /// Locks a vault.
    /// - Parameter vault: The absolute path of the vault.
    /// - Throws: `.vaultLocked` with the holder's process id, or the error of the system call that failed.
    init(of vault: String) throws(Failure) {
        let path = "\(vault)/\(Self.name)"
        folder = OpenFolder(Descriptor(open(vault, O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
        guard folder.number >= 0 else { throw .system("opening \(vault)", errno) }
        // Some network file systems cannot lock folders. On these, the lock on the file has to suffice.
        guard flock(folder.number, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            let holder = Self.holder(named: path, ofFolder: folder.number)
            throw Self.inUse(vault, by: holder)
        }
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("opening \(path)", errno) }
        // This lock belongs to the open file. It stays when another part of this process opens and closes the same
        // file.
        guard linux_lock_open_file(number) == 0 else {
            let code = errno
            let holder = VaultHolder(readText(number, limit: VaultHolder.longest))?.process
            close(number)
            guard code == EAGAIN || code == EACCES else { throw .system("locking \(path)", code) }
            throw Self.inUse(vault, by: holder)
        }
        // This is written for other processes only. The kernel knows the holder of the lock.
        Self.write(VaultHolder(process: getpid(), control: .none), to: number)
        file = Mutex(number)
    }

    /// Notes that this process has the vault for long, and on which socket it takes commands for it, if it does. Makes
    /// the file anew if somebody removed it. Writes nothing if all is as it should be.
    func announce(_ socket: String?) {
        file.withLock { file in
            guard var number = file else { return }
            if !Self.isFile(number, in: folder.number) {
                let new = openat(folder.number, Self.name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
                guard new >= 0 else { return }
                guard linux_lock_open_file(new) == 0 else {
                    close(new)
                    return
                }
                close(number)
                number = new
            }
            let holder = VaultHolder(process: getpid(), control: socket.map { .socket($0) } ?? .unknown)
            // Somebody may have written it over.
            let there = VaultHolder(readText(number, limit: VaultHolder.longest))
            if there != holder { Self.write(holder, to: number) }
            file = number
        }
    }

    static let name = "lock"

    /// Tells whether the file in the vault is the one that is locked.
    private static func isFile(_ file: Int32, in folder: Int32) -> Bool {
        var (own, found) = (stat(), stat())
        return fstat(file, &own) == 0 && fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_ino == found.st_ino && own.st_dev == found.st_dev
    }

    /// Writes the text over the one before, so that nobody ever reads an empty file. The lines after the text's own are
    /// not read.
    private static func write(_ holder: VaultHolder, to file: Int32) {
        let text = holder.text
        _ = pwrite(file, text, text.utf8.count, 0)
        ftruncate(file, off_t(text.utf8.count))
    }

    func release() {
        file.withLock { file in
            guard let number = file.take() else { return }
            // A child process shares the open files until it runs its program, so closing the descriptors alone might
            // not release the locks.
            _ = linux_unlock_open_file(number)
            close(number)
            flock(folder.number, LOCK_UN)
        }
    }

    deinit { release() }

    private static func inUse(_ vault: String, by holder: Int32?) -> Failure {
        let process = holder.map { " (process \($0))" } ?? ""
        return Failure(
            .vaultLocked, "The vault \(vault) is in use by another Larder\(process)",
            hint: "Stop it, or wait until it has ended; `ls`, `stat`, `status` and the lists work meanwhile")
    }

    /// Returns the id of the process that holds the lock of a folder, from the kernel or else from the lock file. The
    /// file may have been deleted.
    private static func holder(named file: String, ofFolder folder: Int32) -> Int32? {
        if let holder = FolderLocks.holder(of: folder) { return holder }
        let number = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        defer { close(number) }
        return VaultHolder(readText(number, limit: VaultHolder.longest))?.process
    }
}

extension VaultHolder {
    /// The longest text of a lock file that is read, in bytes.
    fileprivate static let longest = 8_192

    /// Returns the process that had a vault open last; nil if there was none. Blocks.
    /// - Parameter vault: The absolute path of the vault.
    package static func last(of vault: String) -> VaultHolder? {
        let number = open(vault + "/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return nil }
        defer { close(number) }
        return VaultHolder(readText(number, limit: longest))
    }
}

/// The kernel's list of locks (proc_locks(5)), on systems that show it.
enum FolderLocks {
    /// Returns the id of the process that has locked a whole folder with `flock`.
    /// - Parameter folder: The descriptor of the folder.
    /// - Returns: The process id; nil if the folder is not locked or the kernel does not tell.
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
            // A line reads `1: FLOCK  ADVISORY  WRITE 4711 fe:01:131 0 EOF`. A waiting lock has an arrow before its
            // kind.
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

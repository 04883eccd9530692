import CLinux
import Glibc
import Model
import Synchronization

/// Keeps a second host from a vault. The kernel ends the lock with the process, however it ends.
final class VaultLock: Sendable {
    private let file: Mutex<Int32>

    /// - Throws: `.vaultLocked`, with the holder's process id.
    init(of vault: String) throws(Failure) {
        let path = vault + "/lock"
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .system("opening \(path)", errno) }
        // A lock of the open file: it does not go when some other part of this process opens and closes the same file.
        guard linux_lock_open_file(number) == 0 else {
            let code = errno
            let holder = readText(number, limit: 32)
            close(number)
            guard code == EAGAIN || code == EACCES else { throw .system("locking \(path)", code) }
            let process = Int32(holder).map { " (process \($0))" } ?? ""
            throw Failure(
                .vaultLocked, "The vault \(vault) is in use by another Larder\(process)",
                hint: "Stop it, or wait until it has ended; `ls`, `stat`, `status` and the lists work beside it")
        }
        // Only for the message above: whose lock it is, the kernel knows.
        ftruncate(number, 0)
        let pid = "\(getpid())\n"
        _ = pwrite(number, pid, pid.utf8.count, 0)
        file = Mutex(number)
    }

    func release() {
        file.withLock { number in
            guard number >= 0 else { return }
            // A child that is just being started has the open file too until it runs its program: closing would not be enough.
            _ = linux_unlock_open_file(number)
            close(number)
            number = -1
        }
    }

    deinit { release() }
}

import Glibc

extension Disk {
    /// Runs `body` while it holds the lock of a base folder. The lock excludes all other writers: other threads,
    /// objects and processes.
    ///
    /// The lock belongs to an open file (`flock`). Each holder opens the file anew, so that the lock also works between
    /// threads. The kernel releases the lock when its holder ends, however the holder ends.
    /// - Parameter waits: Whether to wait for the present holder.
    /// - Returns: The result of `body`; nil if `waits` is false and somebody else holds the lock.
    func holdingLock<Result>(at path: Path, waits: Bool, _ body: () throws -> Result) throws -> Result? {
        let file = try open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        do throws(SystemCallError) {
            try perform(.flock, path) { flock(file.number, waits ? LOCK_EX : LOCK_EX | LOCK_NB) }
        } catch {
            if !waits, error.code == EWOULDBLOCK { return nil }
            throw error
        }
        defer { flock(file.number, LOCK_UN) }
        return try body()
    }
}

import Glibc

extension Disk {
    /// Keeps all others who write from a base folder while `body` runs: other threads, objects and processes.
    ///
    /// The lock is one of an open file (`flock`), and each holder opens the file anew, so that it holds between threads too.
    /// The kernel ends it with its holder, however that ends.
    /// - Parameter waits: whether to wait for who has it.
    /// - Returns: what `body` returned; nil if somebody else has the lock.
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

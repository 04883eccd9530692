import Database
import Glibc
import LocalTree

extension Vault {
    /// Tells whether a host has a vault open at this moment. Takes no lock, so the answer may be outdated a moment
    /// later.
    /// - Parameter path: The absolute path of the vault.
    /// - Returns: Whether a host has the vault open; false if there is no vault.
    public static func isInUse(at path: String) -> Bool {
        let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return false }
        defer { Glibc.close(folder) }
        if FolderLocks.holder(of: folder) != nil { return true }
        let number = Glibc.open(path + "/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else { return false }
        defer { Glibc.close(number) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return fcntl(number, F_GETLK, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}

import Database
import Glibc
import LocalTree
public import Model

extension Vault {
    /// Closes the vault and removes it: its database with all backups, and what Larder keeps in its folders. A file that
    /// Larder does not know stays, and so does the vault's folder then. Of a folder of copies outside the vault only
    /// the vault's mark is removed.
    ///
    /// The caller has made sure that nothing in the vault is only here. The tree's folders are removed only where they
    /// are empty. No access to the vault may be in progress or follow. Blocks.
    /// - Returns: Whether nothing of the vault is left.
    /// - Throws: `.localIO` if `incoming/` cannot be read, and the errors of ``Database/close()``.
    public func erase() throws(Failure) -> Bool {
        // The lock is held until the vault is gone.
        defer { lock.release() }
        let rescued: [ItemPath]
        do { rescued = try tree.sweepIncoming { _ in false } } catch {
            throw error as? Failure ?? Failure(.internal, "\(error)")
        }
        try database.close()
        guard rescued.isEmpty else { return false }
        let files = tree.root
        // A snapshot in there may be the only copy of a person's file.
        let outgoing =
            tree.reservesDotLarder ? ["\(files)/\(Tree.dotLarder)/outgoing", "\(path)/outgoing"] : ["\(path)/outgoing"]
        for folder in outgoing where rmdir(folder) != 0 && errno != ENOENT { return false }
        if tree.reservesDotLarder {
            rmdir("\(files)/\(Tree.dotLarder)/incoming")
            unlink("\(files)/\(Tree.dotLarder)/vault")
            rmdir("\(files)/\(Tree.dotLarder)")
        }
        // `rmdir` removes nothing but an empty folder.
        if files == path + "/files", rmdir(files) != 0, errno != ENOENT { return false }
        rmdir("\(path)/incoming")
        for name in ["calendars", "thumbnails", "projects", "plugins", "backups"] { Self.removeAll("\(path)/\(name)") }
        for name in ["larder.db", "larder.db-wal", "larder.db-shm", "restored.db", Self.noteName, Self.unclosed] {
            unlink("\(path)/\(name)")
        }
        // The lock and the mark go last.
        for name in ["lock", "vault"] { unlink("\(path)/\(name)") }
        return rmdir(path) == 0
    }

    /// Removes a folder of Larder's own with everything in it. Symbolic links are removed and not followed.
    private static func removeAll(_ path: String) {
        var info = stat()
        guard lstat(path, &info) == 0 else { return }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            unlink(path)
            return
        }
        let folder = Descriptor(Glibc.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
        for name in (try? names(in: folder.number)) ?? [] { removeAll("\(path)/\(name)") }
        rmdir(path)
    }
}

import CLinux
import Glibc
public import Model

/// Moves by way of `incoming/`. They are needed where the entry to be replaced has a move of its own still to come.
extension Tree {
    private static let stagedPrefix = "move-"

    /// Tells whether a name in `incoming/` belongs to a waiting move. Such an entry may be a person's work, so that no
    /// cleanup removes it.
    static func isStagedName(_ name: String) -> Bool { name.utf8.starts(with: stagedPrefix.utf8) }

    /// Moves a file or folder, modified or not, into `incoming/`, where it waits for its move. The function does
    /// nothing if there is no such entry, or one already waits for the move.
    /// - Parameter move: The id of the move, under which only one entry may wait.
    /// - Throws: `.localIO` if a folder on the way cannot be opened, or the entry cannot be moved.
    public func stage(_ path: ItemPath, for move: TreeMoveID) throws(Failure) {
        switch locate(path) {
        case .failure(.failed(let failure)): throw failure
        case .failure: return
        case .success(let location):
            let name = Self.stagedPrefix + "\(move)"
            let incoming = try staging.openIncoming()
            guard
                linux_rename_noreplace(location.folder.number, location.name, incoming.number, name) == 0
                    || errno == ENOENT
                    || errno == EEXIST
            else { throw .system("moving \(localPath(of: path)) aside", errno) }
        }
    }

    /// Ends a move whose entry waits in `incoming/`.
    /// - Returns: The outcome; nil if no entry waits for the move.
    /// - Throws: `.localIO` if a folder on the way cannot be opened or created, or the system denies the rename. The
    ///   entry then still waits.
    public func moveStaged(_ move: TreeMoveID, to: ItemPath) throws(Failure) -> MoveOutcome? {
        let name = Self.stagedPrefix + "\(move)"
        guard mayWait(name) else { return nil }
        switch locate(to, makingFolders: true) {
        case .failure(.missing): return .obstructed(.folder)
        case .failure(.obstructed(let obstruction)): return .obstructed(obstruction)
        case .failure(.failed(let failure)): throw failure
        case .success(let target):
            let incoming = try staging.openIncoming()
            guard linux_rename_noreplace(incoming.number, name, target.folder.number, target.name) == 0 else {
                let code = errno
                if code == EEXIST { return .obstructed(obstruction(target)) }
                if let name = Obstruction(nameError: code) { return .obstructed(name) }
                throw .system("moving \(name) to \(to)", code)
            }
            // The two renames have changed the mark. The next comparison reads the file.
            return .moved(nil)
        }
    }

    /// Puts an entry that waits in `incoming/` back to its former path, or beside it under a free name. If something
    /// else lies at the path of a folder above, the entry is put into the folder above that.
    /// - Throws: `.localIO` if a folder on the way cannot be opened, created or reached, or the entry cannot be put
    ///   back under any name. The entry then still waits.
    public func unstage(_ move: TreeMoveID, to path: ItemPath) throws(Failure) {
        let name = Self.stagedPrefix + "\(move)"
        guard mayWait(name) else { return }
        switch locate(path, makingFolders: true) {
        case .failure(let reason) where !reason.isAbsence: throw unreachable(path, reason)
        case .failure:
            guard !path.parent.isRoot else { throw .system("putting \(name) back to \(path)", ENOTDIR) }
            try unstage(move, to: path.moved(from: path.parent, to: path.parent.parent))
        case .success(let location):
            let incoming = try staging.openIncoming()
            if linux_rename_noreplace(incoming.number, name, location.folder.number, location.name) == 0 { return }
            try keep(name, of: incoming, beside: location.name, in: location.folder.number)
        }
    }

    /// Tells whether an entry waits under a name. Also true if the system does not tell.
    private func mayWait(_ name: String) -> Bool {
        let incoming = staging.incoming()
        return faccessat(incoming.number, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
    }
}

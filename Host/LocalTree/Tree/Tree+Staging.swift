import CLinux
import Glibc
public import Model

/// Moves that go by way of `incoming/`, since what they replace has a move of its own still to come.
extension Tree {
    private static let stagedPrefix = "move-"

    /// What waits in `incoming/` under such a name may be a person's work: nothing tidies it away.
    static func isStagedName(_ name: String) -> Bool { name.utf8.starts(with: stagedPrefix.utf8) }

    /// Moves a file or folder, modified or not, into `incoming/`, to wait there for its move. If there is none, or one
    /// waits there already, it does nothing.
    /// - Parameter move: the number of the move; no other may wait under it.
    /// - Throws: `.localIO` if a folder on the way cannot be opened, or what is there cannot be moved.
    public func stage(_ path: ItemPath, for move: TreeMoveID) throws(Failure) {
        switch locate(path) {
        case .failure(.failed(let failure)): throw failure
        case .failure: return
        case .success(let location):
            let name = Self.stagedPrefix + "\(move)"
            guard
                linux_rename_noreplace(location.folder.number, location.name, incoming.number, name) == 0
                    || errno == ENOENT
                    || errno == EEXIST
            else { throw .system("moving \(localPath(of: path)) aside", errno) }
        }
    }

    /// Ends a move that waits in `incoming/`.
    /// - Returns: nil if nothing waits under the number.
    /// - Throws: `.localIO` if a folder on the way cannot be opened or made, or the system refuses the rename; it waits
    ///   still.
    public func moveStaged(_ move: TreeMoveID, to: ItemPath) throws(Failure) -> MoveOutcome? {
        let name = Self.stagedPrefix + "\(move)"
        guard mayWait(name) else { return nil }
        switch locate(to, makingFolders: true) {
        case .failure(.missing): return .obstructed(.folder)
        case .failure(.obstructed(let obstruction)): return .obstructed(obstruction)
        case .failure(.failed(let failure)): throw failure
        case .success(let target):
            guard linux_rename_noreplace(incoming.number, name, target.folder.number, target.name) == 0 else {
                let code = errno
                if code == EEXIST { return .obstructed(obstruction(target)) }
                if let name = Obstruction(nameError: code) { return .obstructed(name) }
                throw .system("moving \(name) to \(to)", code)
            }
            // Two renames have changed the looks: the next comparison reads the file.
            return .moved(nil)
        }
    }

    /// Puts what waits in `incoming/` back where it came from, or beside it; where something else lies in the place of a
    /// folder above it, beside that.
    /// - Throws: `.localIO` if a folder on the way cannot be opened, made or reached, or it cannot be put back under any
    ///   name; it waits still.
    public func unstage(_ move: TreeMoveID, to path: ItemPath) throws(Failure) {
        let name = Self.stagedPrefix + "\(move)"
        guard mayWait(name) else { return }
        switch locate(path, makingFolders: true) {
        case .failure(let reason) where !reason.isAbsence: throw unreachable(path, reason)
        case .failure:
            guard !path.parent.isRoot else { throw .system("putting \(name) back to \(path)", ENOTDIR) }
            try unstage(move, to: path.moved(from: path.parent, to: path.parent.parent))
        case .success(let location):
            if linux_rename_noreplace(incoming.number, name, location.folder.number, location.name) == 0 { return }
            try keep(name, beside: location.name, in: location.folder.number)
        }
    }

    /// Whether something waits under a name, or that cannot be told.
    private func mayWait(_ name: String) -> Bool {
        faccessat(incoming.number, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
    }
}

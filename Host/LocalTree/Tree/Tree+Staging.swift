import CLinux
import Glibc
public import Model

/// Moves that go by way of `incoming/`, since what they replace has a move of its own still to come.
extension Tree {
    private static let stagedPrefix = "move-"

    /// What waits in `incoming/` under such a name may be a person's work: nothing tidies it away.
    static func isStagedName(_ name: String) -> Bool { name.utf8.starts(with: stagedPrefix.utf8) }

    /// Moves a file or folder, modified or not, into `incoming/`, to wait there for its move.
    /// - Parameter move: the number of the move; no other may wait under it.
    /// - Returns: whether it waits there now.
    @discardableResult
    public func stage(_ path: ItemPath, for move: Int64) throws(Failure) -> Bool {
        guard case .success(let spot) = spot(path) else { return false }
        if linux_rename_noreplace(spot.folder.number, spot.name, incoming.number, Self.stagedPrefix + "\(move)") == 0 {
            return true
        }
        switch errno {
        case ENOENT: return false
        case EEXIST: return true
        default: throw .system("moving \(localPath(of: path)) aside", errno)
        }
    }

    /// Ends a move that waits in `incoming/`.
    /// - Returns: nil if nothing waits under the number.
    public func moveStaged(_ move: Int64, to: ItemPath) throws(Failure) -> MoveOutcome? {
        let name = Self.stagedPrefix + "\(move)"
        guard status(of: name, in: incoming.number) != nil else { return nil }
        switch self.spot(to, makingFolders: true) {
        case .failure(.missing): return .obstructed(.folder)
        case .failure(.obstructed(let obstruction)): return .obstructed(obstruction)
        case .failure(.failed(let failure)): throw failure
        case .success(let target):
            guard linux_rename_noreplace(incoming.number, name, target.folder.number, target.name) == 0 else {
                guard errno == EEXIST else { throw .system("moving \(name) to \(to)", errno) }
                return .obstructed(obstruction(target))
            }
            // Two renames have changed the looks: the next comparison reads the file.
            return .moved(nil)
        }
    }

    /// Puts what waits in `incoming/` back where it came from, or beside it.
    public func unstage(_ move: Int64, to path: ItemPath) throws(Failure) {
        let name = Self.stagedPrefix + "\(move)"
        guard case .success(let spot) = spot(path, makingFolders: true) else { return }
        if linux_rename_noreplace(incoming.number, name, spot.folder.number, spot.name) == 0 || errno == ENOENT {
            return
        }
        try keep(name, beside: spot.name, in: spot.folder.number)
    }
}

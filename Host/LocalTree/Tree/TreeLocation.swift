import CLinux
import Glibc
package import Model

/// A name in an open folder of the tree. The folder stays open, so that a move of the folder cannot lead to another
/// one.
struct TreeLocation: ~Copyable {
    let folder: Descriptor
    let path: ItemPath
    let name: String

    init(folder: consuming Descriptor, path: ItemPath) {
        self.folder = folder
        self.path = path
        name = path.name
    }
}

/// The reason why a path has no location in the tree.
package enum LocationFailure: Error {
    /// A folder on the way is missing.
    case missing
    case obstructed(Obstruction)
    case failed(Failure)
}

extension LocationFailure {
    /// Whether nothing can exist at the path. An error is no absence, and neither is a symbolic link or a mounted file
    /// system, which may hide the entry.
    package var isAbsence: Bool {
        switch self {
        case .missing: true
        case .obstructed(let obstruction): obstruction != .symbolicLink && obstruction != .mountPoint
        case .failed: false
        }
    }

    package var text: String {
        switch self {
        case .missing: "it is missing"
        case .obstructed(let obstruction): "\(obstruction.text) is in its place"
        case .failed(let failure): failure.message
        }
    }
}

/// A location or a failure. `Result` cannot hold a value that cannot be copied.
enum LocationResult: ~Copyable {
    case success(TreeLocation)
    case failure(LocationFailure)
}

extension Tree {
    /// Opens the folder that holds a path.
    /// - Parameter makingFolders: Whether missing folders on the way are created, for the owner alone.
    func locate(_ path: ItemPath, makingFolders: Bool = false) -> LocationResult {
        if path.isRoot || isReserved(path) { return .failure(.obstructed(.folder)) }
        switch openFolder(path.parent, making: makingFolders) {
        case .success(let folder): return .success(TreeLocation(folder: Descriptor(folder), path: path))
        case .failure(let reason): return .failure(reason)
        }
    }

    /// Opens a folder of the tree.
    /// - Parameter making: Whether missing folders are created, for the owner alone.
    /// - Returns: A descriptor that serves only as the start of other calls (`O_PATH`).
    package func openFolder(_ path: ItemPath, making: Bool) -> Result<Int32, LocationFailure> {
        if isReserved(path) { return .failure(.obstructed(.folder)) }
        let relative = path.isRoot ? "." : String(path.text.dropFirst())
        let number = openBeneath(folder.number, relative, linux_o_path | O_DIRECTORY)
        if number >= 0 { return .success(number) }
        switch errno {
        case ENOENT:
            guard making, !path.isRoot else { return .failure(.missing) }
        case ENOTDIR: return .failure(.obstructed(obstruction(at: path)))
        case ELOOP: return .failure(.obstructed(.symbolicLink))
        case EXDEV: return .failure(.obstructed(.mountPoint))
        case ENAMETOOLONG, EILSEQ, EINVAL: return .failure(.obstructed(.name))
        default: return .failure(.failed(.system("opening \(localPath(of: path))", errno)))
        }
        switch openFolder(path.parent, making: true) {
        case .failure(let reason): return .failure(reason)
        case .success(let parent):
            let parent = Descriptor(parent)
            if mkdirat(parent.number, path.name, 0o700) != 0, errno != EEXIST {
                if let name = Obstruction(nameError: errno) { return .failure(.obstructed(name)) }
                return .failure(.failed(.system("making \(localPath(of: path))", errno)))
            }
        }
        // The entry may be a link or a file that somebody put there just now. It is opened as carefully as before.
        return openFolder(path, making: false)
    }

    /// Returns the first entry on the way to a folder that is not a folder.
    private func obstruction(at path: ItemPath) -> Obstruction {
        let relative = String(path.text.dropFirst())
        let number = openBeneath(folder.number, relative, linux_o_path | O_NOFOLLOW)
        if number >= 0, let info = Descriptor(number).status() { return Obstruction(of: info) ?? .file }
        return path.parent.isRoot ? .file : obstruction(at: path.parent)
    }

    func isReserved(_ path: ItemPath) -> Bool {
        guard reservesDotLarder else { return false }
        let own = ItemPath(unchecked: "/" + Self.dotLarder)
        return path == own || own.isAncestor(of: path)
    }
}

extension Obstruction {
    /// Creates the obstruction of an entry that is not a regular file; nil for a regular file.
    init?(_ info: stat) {
        guard !info.isRegular else { return nil }
        self = info.isFolder ? .folder : info.isSymbolicLink ? .symbolicLink : .special
    }

    /// Creates the obstruction of an entry that is not a folder; nil for a folder.
    init?(of info: stat) {
        guard !info.isFolder else { return nil }
        self = Obstruction(info) ?? .file
    }

    /// Creates the obstruction of an error that the name causes; nil for any other error.
    init?(nameError code: Int32) {
        guard code == ENAMETOOLONG || code == EILSEQ || code == EINVAL else { return nil }
        self = .name
    }
}

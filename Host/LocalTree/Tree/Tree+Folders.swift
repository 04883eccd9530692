import CLinux
import Glibc
public import Model

extension Tree {
    /// Creates a folder, and missing folders above it, for the owner alone.
    /// - Throws: `.localIO` if a folder on the way cannot be opened or created.
    public func makeFolder(_ path: ItemPath) throws(Failure) -> FolderOutcome {
        switch openFolder(path, making: false) {
        case .success(let number):
            _ = Descriptor(number)
            return .alreadyThere
        case .failure: break
        }
        switch openFolder(path, making: true) {
        case .success(let number):
            _ = Descriptor(number)
            return .made
        case .failure(.obstructed(let obstruction)): return .obstructed(obstruction)
        case .failure(.failed(let failure)): throw failure
        case .failure(.missing): return .obstructed(.folder)
        }
    }

    /// Removes a folder if it is empty.
    /// - Returns: True if the folder was removed, or it or a folder above it is missing; false if the folder is not
    ///   empty or is in use, or something else lies at its path or on the way.
    /// - Throws: `.localIO` if a folder on the way cannot be opened, or the folder cannot be removed though it may be
    ///   empty.
    public func removeFolderIfEmpty(_ path: ItemPath) throws(Failure) -> Bool {
        switch locate(path) {
        case .failure(.missing): return true
        case .failure(.obstructed): return false
        case .failure(.failed(let failure)): throw failure
        case .success(let location):
            if unlinkat(location.folder.number, location.name, AT_REMOVEDIR) == 0 { return true }
            switch errno {
            case ENOENT: return true
            case ENOTEMPTY, EEXIST, ENOTDIR, EBUSY: return false
            default: throw .system("removing the folder \(localPath(of: path))", errno)
            }
        }
    }

    /// Renames a file or folder, modified or not. The rename never replaces anything, except that a folder may replace
    /// an empty folder.
    /// - Parameter known: The row's record of a file. The function renews its mark, since a rename changes a file's
    ///   change time.
    /// - Throws: `.localIO` if a folder on the way cannot be opened or created, or the system denies the rename.
    public func move(from: ItemPath, to: ItemPath, known: LocalCopy? = nil) throws(Failure) -> MoveOutcome {
        switch locate(from) {
        case .failure(.missing): return .nothingThere
        case .failure(.obstructed): return .nothingThere
        case .failure(.failed(let failure)): throw failure
        case .success(let source):
            guard let before = status(of: source.name, in: source.folder.number) else { return .nothingThere }
            switch locate(to, makingFolders: true) {
            case .failure(.missing): return .obstructed(.folder)
            case .failure(.obstructed(let obstruction)): return .obstructed(obstruction)
            case .failure(.failed(let failure)): throw failure
            case .success(let target):
                if before.isFolder { unlinkat(target.folder.number, target.name, AT_REMOVEDIR) }
                guard
                    linux_rename_noreplace(source.folder.number, source.name, target.folder.number, target.name) == 0
                else {
                    switch errno {
                    case ENOENT: return .nothingThere
                    case EEXIST: return .obstructed(obstruction(target))
                    // The folder would move into itself.
                    case EINVAL where before.isFolder: return .obstructed(.folder)
                    case ENAMETOOLONG, EILSEQ, EINVAL: return .obstructed(.name)
                    default: throw .system("moving \(localPath(of: from)) to \(to)", errno)
                    }
                }
                return .moved(renewed(known, before: before, target))
            }
        }
    }

    func obstruction(_ location: borrowing TreeLocation) -> Obstruction {
        status(of: location.name, in: location.folder.number).flatMap { Obstruction($0) } ?? .file
    }

    private func renewed(_ known: LocalCopy?, before: stat, _ target: borrowing TreeLocation) -> FileMark? {
        guard let mark = known?.mark, proof.isProof(mark), mark.matches(FileMark(before, now: clock())),
            let after = status(of: target.name, in: target.folder.number)
        else { return nil }
        let moved = FileMark(after, now: clock())
        return moved.hasContent(like: mark) ? moved : nil
    }
}

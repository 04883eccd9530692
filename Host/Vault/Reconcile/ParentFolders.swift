import Database
import Glibc
import LocalTree
import Model

/// An inspector of paths that arrive folder by folder. Each folder is opened once for all of its files.
final class ParentFolders {
    private let tree: Tree
    private var path: ItemPath?
    /// The descriptor of the open folder; negative if the folder cannot be opened.
    private var folder: Int32 = -1
    /// The reason why the content of the folder cannot be read; nil if the folder was opened or is missing.
    private var hidden: String?
    /// The unreadable folders with the reasons; of nested ones only the uppermost.
    private(set) var unreadable: [ItemPath: String] = [:]

    init(tree: Tree) { self.tree = tree }

    deinit { leave() }

    /// Returns the entry at a path and the time when another program last read it; the time is nil if the system does
    /// not tell.
    func inspect(_ path: ItemPath) -> (entry: FoundEntry, accessed: Timestamp?) {
        if self.path?.isParent(of: path) != true { enter(path.parent) }
        if folder < 0 { return (hidden.map { .unreadable(because: $0) } ?? .nothing, nil) }
        let found = tree.inspect(path.name, in: folder)
        if case .unreadable(let reason) = found.entry { note(path.parent, reason) }
        return found
    }

    /// Records that a folder, or a folder above it, cannot be read.
    func note(_ folder: ItemPath, _ reason: String) {
        guard unreadableFolder(above: folder) == nil else { return }
        var (uppermost, why) = (folder, reason)
        var above = folder.parent
        while !above.isRoot {
            if let reason = tree.whyUnreadable(above) { (uppermost, why) = (above, reason) }
            above = above.parent
        }
        unreadable[uppermost] = why
    }

    /// Returns the folder itself or a folder above it that is recorded as unreadable.
    private func unreadableFolder(above folder: ItemPath) -> ItemPath? {
        var folder = folder
        while !unreadable.isEmpty, !folder.isRoot {
            if unreadable[folder] != nil { return folder }
            folder = folder.parent
        }
        return nil
    }

    private func enter(_ path: ItemPath) {
        leave()
        self.path = path
        hidden = unreadableFolder(above: path).flatMap { unreadable[$0] }
        guard hidden == nil else { return }
        switch tree.openFolder(path, making: false) {
        case .success(let number): folder = number
        case .failure(let reason):
            guard !reason.isAbsence else { return }
            hidden = reason.text
            note(path, reason.text)
        }
    }

    private func leave() {
        if folder >= 0 { close(folder) }
        folder = -1
    }
}

import Database
import Glibc
import LocalTree
import Model

/// Looks at paths that come folder by folder: a folder is opened once for all of its files.
final class ParentFolders {
    private let tree: Tree
    private var path: ItemPath?
    /// Below 0: it cannot be opened.
    private var folder: Int32 = -1
    /// Why it cannot be told what is in it; nil if it can be opened, or is missing.
    private var hidden: String?
    /// The folders that could not be looked into, the uppermost of each, and why.
    private(set) var unreadable: [ItemPath: String] = [:]

    init(tree: Tree) { self.tree = tree }

    deinit { leave() }

    /// What lies at a path, and when others read it last, if the system tells.
    func inspect(_ path: ItemPath) -> (entry: FoundEntry, accessed: Timestamp?) {
        let parent = path.parent
        if parent != self.path { enter(parent) }
        if folder < 0 { return (hidden.map { .unreadable(because: $0) } ?? .nothing, nil) }
        let found = tree.inspect(path.name, in: folder)
        if case .unreadable(let reason) = found.entry { note(parent, reason) }
        return found
    }

    /// A folder cannot be looked into, or one above it cannot.
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

    /// The folder itself, or one above it, that is known as unreadable.
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

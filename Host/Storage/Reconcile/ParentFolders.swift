import Glibc
import Model

/// Looks at paths that come folder by folder: a folder is opened once for all of its files.
final class ParentFolders {
    private let tree: Tree
    private var path: ItemPath?
    /// Below 0: it cannot be opened.
    private var folder: Int32 = -1
    private var isMissing = false

    init(tree: Tree) { self.tree = tree }

    deinit { leave() }

    /// What lies at a path, and when others read it last, if the system tells.
    func look(at path: ItemPath) -> (entry: FoundEntry, accessed: Timestamp?) {
        let parent = path.parent
        if parent != self.path { enter(parent) }
        if folder < 0 { return (isMissing ? .nothing : .unreadable, nil) }
        return tree.look(path.name, in: folder)
    }

    private func enter(_ path: ItemPath) {
        leave()
        self.path = path
        switch tree.openFolder(path, making: false) {
        case .success(let number):
            folder = number
            isMissing = false
        case .failure(.missing), .failure(.obstructed):
            folder = -1
            isMissing = true
        case .failure(.failed):
            folder = -1
            isMissing = false
        }
    }

    private func leave() {
        if folder >= 0 { close(folder) }
        folder = -1
    }
}

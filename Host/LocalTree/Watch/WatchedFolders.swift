import Glibc
import Model

/// The watched folders of the tree by their watches, and the consequences of events. The type does no I/O.
///
/// A folder stores its parent and its name, so that the folders below a moved folder need no change.
struct WatchedFolders {
    private struct Folder {
        /// The parent's watch; nil for the root.
        var parent: Int32?
        var name: FileName
        var children: [FileName: Int32] = [:]
    }

    private var folders: [Int32: Folder] = [:]
    private var root: Int32?
    /// The watches for uses, by the watches of their folders. The second dictionary is the reverse of the first.
    private var uses: [Int32: Int32] = [:]
    private var foldersOfUses: [Int32: Int32] = [:]

    var count: Int { folders.count }
    var watches: [Int32] { Array(folders.keys) }

    /// Returns the path of a watched folder; nil if the watch is not, or no longer, known.
    func path(of watch: Int32) -> ItemPath? {
        var names: [String] = []
        var next = watch
        while let folder = folders[next] {
            guard let parent = folder.parent else {
                return ItemPath(unchecked: "/" + names.reversed().joined(separator: "/"))
            }
            names.append(folder.name.text)
            next = parent
        }
        return nil
    }

    /// Returns the watch of a folder; nil if the folder has none.
    func watch(at path: ItemPath) -> Int32? {
        path.components.reduce(root) { watch, name in
            watch.flatMap { folders[$0]?.children[FileName(text: name)] }
        }
    }

    var hasUses: Bool { !uses.isEmpty }

    mutating func setUse(_ use: Int32, of watch: Int32) {
        uses[watch] = use
        foldersOfUses[use] = watch
    }

    /// Removes the watch for uses of a folder.
    /// - Returns: The removed watch; nil if there is none.
    mutating func takeUse(of watch: Int32) -> Int32? {
        guard let use = uses.removeValue(forKey: watch) else { return nil }
        foldersOfUses[use] = nil
        return use
    }

    /// Returns the file that a program opened, read or closed. Nil for a folder, for an unknown watch, and for a name
    /// that no item can have.
    func used(by event: WatchEvent) -> ItemPath? {
        guard !event.has(IN_ISDIR), let name = event.name, let watch = foldersOfUses[event.watch],
            let folder = path(of: watch)
        else { return nil }
        return try? folder.appending(name)
    }

    /// Adds a watched folder. A folder that was known at another path has moved, with all folders below it.
    /// - Returns: The watches of the folders that were known at the path before and are gone from it. Nil if the folder
    ///   above is not watched; the watch is then not known either.
    mutating func put(_ watch: Int32, at path: ItemPath) -> [Int32]? {
        if path.isRoot {
            guard root != watch else { return [] }
            let gone = root.map { remove($0) } ?? []
            folders[watch] = Folder(parent: nil, name: FileName(text: ""))
            root = watch
            return gone
        }
        guard let parent = self.watch(at: path.parent) else { return nil }
        let name = FileName(text: path.name)
        let former = folders[parent]?.children[name]
        guard former != watch else { return [] }
        guard !isAtOrBelow(parent, watch) else {
            // The events of both moves are still to come. With these events, the folder is found again.
            remove(watch)
            return nil
        }
        // The folder known at the path is removed last, since the new folder may have been below it.
        unlink(watch)
        folders[watch, default: Folder(parent: parent, name: name)].parent = parent
        folders[watch]?.name = name
        let gone = former.map { remove($0) } ?? []
        folders[parent]?.children[name] = watch
        return gone
    }

    /// Removes a folder and all folders below it.
    /// - Returns: Their watches.
    @discardableResult
    mutating func remove(_ watch: Int32) -> [Int32] {
        guard folders[watch] != nil else { return [] }
        unlink(watch)
        var gone: [Int32] = []
        var rest = [watch]
        while let next = rest.popLast() {
            guard let folder = folders.removeValue(forKey: next) else { continue }
            gone.append(next)
            rest += folder.children.values
        }
        if root == watch { root = nil }
        return gone
    }

    private func isAtOrBelow(_ watch: Int32, _ above: Int32) -> Bool {
        var next: Int32? = watch
        while let here = next {
            if here == above { return true }
            next = folders[here]?.parent
        }
        return false
    }

    private mutating func unlink(_ watch: Int32) {
        guard let folder = folders[watch], let parent = folder.parent else { return }
        folders[parent]?.children[folder.name] = nil
    }
}

extension WatchedFolders {
    /// A consequence of an event.
    enum Step: Hashable {
        /// A change at a path.
        case mark(ItemPath, DirtyPaths.Cause)
        /// A new folder, perhaps with entries. The folder and all folders below it are to be watched.
        case enter(ItemPath)
        /// A folder that moved away. Its watches have no use any more.
        case leave(Int32)
        /// A watch that the kernel has ended.
        case forget(Int32)
        /// A tree's root that was moved, removed or unmounted.
        case root
        /// A loss of events. Anything may have changed.
        case everything
    }

    /// Returns the consequences of an event.
    /// - Parameter isReserved: A function that tells whether a path belongs to the tree itself.
    func steps(for event: WatchEvent, isReserved: (ItemPath) -> Bool) -> [Step] {
        if event.has(IN_Q_OVERFLOW) { return [.everything] }
        if event.watch == root, event.has(IN_DELETE_SELF, IN_MOVE_SELF, IN_UNMOUNT) { return [.root] }
        if event.has(IN_IGNORED) { return [.forget(event.watch)] }
        guard event.isAboutEntry, let name = event.name, let folder = path(of: event.watch),
            let path = try? folder.appending(name), !isReserved(path)
        else { return [] }
        guard event.has(IN_ISDIR) else {
            return [.mark(path, event.has(IN_CREATE, IN_MODIFY, IN_ATTRIB) ? .underWay : .done)]
        }
        if event.has(IN_CREATE, IN_MOVED_TO) { return [.enter(path), .mark(path, .done)] }
        if event.has(IN_MOVED_FROM), let watch = watch(at: path) { return [.leave(watch), .mark(path, .done)] }
        if event.has(IN_MOVED_FROM, IN_DELETE) { return [.mark(path, .done)] }
        // The permissions or times changed. A folder that could not be watched may be readable now.
        return watch(at: path) == nil ? [.enter(path), .mark(path, .underWay)] : []
    }
}

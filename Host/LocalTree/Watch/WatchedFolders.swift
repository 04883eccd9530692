import Glibc
import Model

/// Which folder of the tree each watch is of, and what follows from an event. No I/O.
///
/// A folder knows its parent and its name, so that nothing is to be rewritten below one that moves.
struct WatchedFolders {
    private struct Folder {
        /// Nil for the root.
        var parent: Int32?
        var name: FileName
        var children: [FileName: Int32] = [:]
    }

    private var folders: [Int32: Folder] = [:]
    private var root: Int32?
    /// The watches that tell of uses: which of them belongs to a folder's watch, and the other way round.
    private var uses: [Int32: Int32] = [:]
    private var foldersOfUses: [Int32: Int32] = [:]

    var count: Int { folders.count }
    var watches: [Int32] { Array(folders.keys) }

    /// Where a watched folder is; nil if the watch is not known (any more).
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

    /// The watch of a folder; nil if it has none.
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

    /// Forgets the watch that tells of uses in a folder.
    mutating func takeUse(of watch: Int32) -> Int32? {
        guard let use = uses.removeValue(forKey: watch) else { return nil }
        foldersOfUses[use] = nil
        return use
    }

    /// The file that somebody opened, read or closed; nil for a folder, for what is not known any more and for no item's name.
    func used(by event: WatchEvent) -> ItemPath? {
        guard !event.has(IN_ISDIR), let name = event.name, let watch = foldersOfUses[event.watch],
            let folder = path(of: watch)
        else { return nil }
        return try? folder.appending(name)
    }

    /// Notes that a folder is watched. One that was known elsewhere has moved, with all below it.
    /// - Returns: the watches of what was known at the path before, which is not there any more; nil, and the watch is not known,
    ///   if the folder above is not watched.
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
            // Moves of both are still to be told of: with them it is met again.
            remove(watch)
            return nil
        }
        // What is known at the path goes last: the folder may have been below it.
        unlink(watch)
        folders[watch, default: Folder(parent: parent, name: name)].parent = parent
        folders[watch]?.name = name
        let gone = former.map { remove($0) } ?? []
        folders[parent]?.children[name] = watch
        return gone
    }

    /// Forgets a folder and all below it.
    /// - Returns: their watches.
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
    /// What is to be done about an event.
    enum Step: Hashable {
        /// Something changed at a path.
        case mark(ItemPath, DirtyPaths.Cause)
        /// A folder has come, perhaps with something in it: it and all below it are to be watched.
        case enter(ItemPath)
        /// A folder has gone elsewhere: these watches are of no use any more.
        case leave(Int32)
        /// The kernel has ended a watch.
        case forget(Int32)
        /// The tree's root was moved, removed or unmounted.
        case root
        /// Events were lost: anything may have changed.
        case everything
    }

    /// - Parameter isReserved: Whether a path is the tree's own.
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
        // Rights or times. One that could not be watched may be readable now.
        return watch(at: path) == nil ? [.enter(path), .mark(path, .underWay)] : []
    }
}

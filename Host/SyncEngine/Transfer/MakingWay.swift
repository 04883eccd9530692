import Logging
import Model
import Storage

/// The copies of items that are gone from the server stay for a while. They go at once when another item needs their place.
extension SyncEngine {
    /// Removes what is in an item's way, as far as it is unmodified copies of items that are gone: at its path, at a folder above
    /// that was a file, or, for a file, below its path that was a folder.
    ///
    /// Removed in the transaction that says so; after a crash in between the copies are found missing. It blocks.
    /// - Returns: whether something went, so that what was obstructed is worth another try.
    func makeWay(for path: ItemPath, of kind: Item.Kind, in tx: Transaction) throws -> Bool {
        var hasCleared = false
        var place = path
        while !place.isRoot {
            if let gone = try tx.removedCopy(at: place), gone.kind == .file, try clear(gone, in: tx) {
                hasCleared = true
            }
            place = place.parent
        }
        guard kind == .file else { return hasCleared }
        var folders: Set<ItemPath> = [path]
        for gone in try tx.removedCopies(below: path) {
            if gone.kind == .folder {
                folders.insert(gone.path)
                try tx.dropCopy(of: gone)
            } else if try clear(gone, in: tx) {
                hasCleared = true
            }
            var folder = gone.path.parent
            while path.isAncestor(of: folder), folders.insert(folder).inserted { folder = folder.parent }
        }
        if let gone = try tx.removedCopy(at: path), gone.kind == .folder { try tx.dropCopy(of: gone) }
        // The deepest first.
        for folder in folders.sorted(by: >) where try tree.removeFolderIfEmpty(folder) { hasCleared = true }
        return hasCleared
    }

    private func clear(_ gone: Item, in tx: Transaction) throws -> Bool {
        guard let copy = gone.copy else { return false }
        switch try tree.remove(at: gone.path, known: copy) {
        case .removed:
            logger.debug("Removed the copy of \(gone.path), which is gone from the server, for another item")
            try tx.dropCopy(of: gone)
            return true
        case .nothingThere:
            try tx.dropCopy(of: gone)
            return false
        case .modified, .inUse, .obstructed: return false
        }
    }
}

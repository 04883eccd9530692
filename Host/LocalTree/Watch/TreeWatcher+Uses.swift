import Glibc
import Model

/// The uses of copies by programs.
extension TreeWatcher {
    func noteUses(_ events: [WatchEvent], _ folders: WatchedFolders) {
        let paths = Set(events.compactMap { folders.used(by: $0) }).filter {
            !tree.isReserved($0) && !tree.ownOpens.contains($0)
        }
        note(uses: counted(paths))
    }

    /// Returns the files whose uses count, by the programs that have them open.
    private func counted(_ paths: Set<ItemPath>) -> Set<ItemPath> {
        guard let uses, !readers.countAll else { return paths }
        // The readers of a file that was used just now need not be checked again.
        let fresh = uses.with { uses in paths.filter { !uses.has($0) } }
        var files: [ItemPath: FileNumber] = [:]
        for path in fresh {
            guard case .success(let location) = tree.locate(path),
                let info = status(of: location.name, in: location.folder.number)
            else { continue }
            files[path] = FileNumber(info)
        }
        return readers.counting(files)
    }
}

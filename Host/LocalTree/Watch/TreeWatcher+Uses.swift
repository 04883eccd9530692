import Glibc
import Model

/// The uses of copies by programs, on the watcher's thread.
extension TreeWatcher {
    /// The number of times that the queue is read before the thread does other work.
    private static let mostReads = 64

    func readUses(into buffer: UnsafeMutableRawBufferPointer, _ folders: WatchedFolders) {
        // The closed files are listed before the queue is read. All their events are in the queue now.
        let closed = tree.ownOpens.closed()
        var paths: Set<ItemPath> = []
        var last: WatchEvent?
        for _ in 0..<Self.mostReads {
            let count = read(useEvents.number, buffer.baseAddress, buffer.count)
            guard count > 0 else {
                tree.ownOpens.forget(closed)
                break
            }
            for event in WatchEvent.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                // A file that is being read causes one event after the other.
                if let last, last.watch == event.watch, last.name == event.name { continue }
                last = event
                guard let path = folders.used(by: event), !tree.isReserved(path), !tree.ownOpens.contains(path) else {
                    continue
                }
                paths.insert(path)
            }
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

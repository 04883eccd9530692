import Glibc
import Model

/// Which copies programs use, on the watcher's thread.
extension TreeWatcher {
    /// How often the queue is read before other things have their turn.
    private static let mostReads = 64

    func readUses(into buffer: UnsafeMutableRawBufferPointer, _ folders: WatchedFolders) {
        // Closed before the queue is read: all that came of it is in the queue now.
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
                // A file that is read gives one event after the other.
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

    /// The files whose uses count, by who has them open.
    private func counted(_ paths: Set<ItemPath>) -> Set<ItemPath> {
        guard let uses, !readers.countAll else { return paths }
        // What was used just now needs no look at who it is this time.
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

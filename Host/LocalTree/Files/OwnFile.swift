import Glibc
import Model
import Synchronization

/// A file of the tree that Larder itself opens for reading, and that is closed when the value ends. The reading is no
/// use of the file: the access time stays as it is where the system allows that, and the watcher does not count the
/// opening.
struct OwnFile: ~Copyable {
    /// The descriptor; below 0, with `errno`, if the file could not be opened.
    let number: Int32
    private let path: ItemPath
    private let opens: OwnOpens

    init(_ location: borrowing TreeLocation, _ opens: OwnOpens) {
        (path, self.opens) = (location.path, opens)
        opens.begin(path)
        number = openForReading(location.name, in: location.folder.number)
    }

    deinit {
        // The file is closed before the table is changed, so that the kernel's event for the closing comes first.
        if number >= 0 { close(number) }
        opens.end(path)
    }

    /// Returns the file's status; nil with `errno` on failure.
    func status() -> stat? {
        var info = stat()
        return fstat(number, &info) == 0 ? info : nil
    }
}

/// The files of the tree that Larder itself has open, or had open until the watcher has read all events that followed.
///
/// The kernel does not tell which program caused an event. All events of a file in this table are therefore taken for
/// Larder's own. Another program's events at the same moment are missed too. This is harmless: the file is open then,
/// and so is not removed; the next event counts; and if the other program read the file, the next comparison finds its
/// access time.
final class OwnOpens: Sendable {
    private struct State {
        /// Whether a watcher counts uses. Without a watcher, nothing is recorded.
        var isWatched = false
        /// The files, each with the number of times that it is open now and the number of its last closing.
        var files: [ItemPath: (count: Int, closing: Int)] = [:]
        var closings = 0
    }

    private let state = Mutex(State())

    func setWatched(_ isWatched: Bool) { state.withLock { $0 = State(isWatched: isWatched) } }

    func begin(_ path: ItemPath) {
        state.withLock { state in
            if state.isWatched { state.files[path, default: (0, 0)].count += 1 }
        }
    }

    func end(_ path: ItemPath) {
        state.withLock { state in
            // A count of zero stays until the watcher has read the queue to its end.
            guard let count = state.files[path]?.count else { return }
            state.closings += 1
            state.files[path] = (max(0, count - 1), state.closings)
        }
    }

    func contains(_ path: ItemPath) -> Bool { state.withLock { $0.files[path] != nil } }

    /// Returns the files that are closed already, with the numbers of their closings. All their events are in the kernel's
    /// queue.
    func closed() -> [ItemPath: Int] {
        state.withLock { $0.files.filter { $0.value.count == 0 }.mapValues(\.closing) }
    }

    /// Removes the files that ``closed()`` returned, except those that were opened again. The queue must have been read
    /// to its end since then.
    func forget(_ closed: [ItemPath: Int]) {
        state.withLock { state in
            for (path, closing) in closed {
                if let file = state.files[path], file.count == 0, file.closing == closing { state.files[path] = nil }
            }
        }
    }
}

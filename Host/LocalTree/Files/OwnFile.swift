import Glibc
import Model
import Synchronization

/// A file of the tree that Larder itself opens to read, closed when the value ends. That is no use of the file: its access time
/// stays as it is where the system allows that, and the watcher does not count it.
struct OwnFile: ~Copyable {
    /// Below 0, with `errno`: it could not be opened.
    let number: Int32
    private let path: ItemPath
    private let opens: OwnOpens

    init(_ location: borrowing TreeLocation, _ opens: OwnOpens) {
        (path, self.opens) = (location.path, opens)
        opens.begin(path)
        number = openForReading(location.name, in: location.folder.number)
    }

    deinit {
        // The kernel tells of the closing before the table says that it is over.
        if number >= 0 { close(number) }
        opens.end(path)
    }

    /// What the file system says of it; nil with `errno`.
    func status() -> stat? {
        var info = stat()
        return fstat(number, &info) == 0 ? info : nil
    }
}

/// Which files of the tree Larder itself has open, or had until the watcher has heard of all that came of it.
///
/// The kernel does not say whose an event is. So all events of a file that is in here are taken for ours. Another program's that
/// fall into the same moment are missed with them, which is harmless: the file is open then, and so not removed; the next event
/// counts; and if the other program read it, the access time tells at the next comparison.
final class OwnOpens: Sendable {
    private struct State {
        /// Nothing is noted while nobody watches.
        var isWatched = false
        /// How often each is open now.
        var files: [ItemPath: Int] = [:]
    }

    private let state = Mutex(State())

    func setWatched(_ isWatched: Bool) { state.withLock { $0 = State(isWatched: isWatched) } }

    func begin(_ path: ItemPath) {
        state.withLock { state in
            if state.isWatched { state.files[path, default: 0] += 1 }
        }
    }

    func end(_ path: ItemPath) {
        state.withLock { state in
            // At zero it stays until the watcher has drained.
            if let count = state.files[path] { state.files[path] = max(0, count - 1) }
        }
    }

    func contains(_ path: ItemPath) -> Bool { state.withLock { $0.files[path] != nil } }

    /// What is closed already: all events of it are in the kernel's queue.
    func closed() -> [ItemPath] { state.withLock { $0.files.filter { $0.value == 0 }.map(\.key) } }

    /// The queue was read to its end since ``closed()``: these are over, unless they were opened again.
    func forget(_ paths: [ItemPath]) {
        state.withLock { state in
            for path in paths where state.files[path] == 0 { state.files[path] = nil }
        }
    }
}

import Synchronization

/// Bodies that share a transaction, because they came while the writer was busy with another.
final class SharedCommits: Sendable {
    /// A body, and the task that waits for its end.
    struct Entry: Sendable {
        /// Runs the body in a transaction, and returns what resumes the task when the transaction is committed.
        let run: @Sendable (Transaction) throws -> @Sendable () -> Void
        /// Resumes the task with an error.
        let fail: @Sendable (any Error) -> Void
    }

    private let waiting = Mutex<[Entry]>([])

    /// The number of bodies that wait.
    var count: Int { waiting.withLock { $0.count } }

    /// Adds a body.
    /// - Returns: Whether the caller has the writer take what waits. Otherwise somebody else has done so.
    func add(_ entry: Entry) -> Bool {
        waiting.withLock { waiting in
            waiting.append(entry)
            return waiting.count == 1
        }
    }

    /// Takes all bodies that wait.
    func take() -> [Entry] {
        waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}

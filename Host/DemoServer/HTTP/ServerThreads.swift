import Threads

extension BlockingExecutor {
    /// The threads that every demo server of the process answers on. They are its own: a process whose other tasks keep all threads of
    /// the concurrency library busy still answers at once.
    static let ofServers = BlockingExecutor(name: "demo server", threads: 2)
}

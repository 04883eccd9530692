import Threads

extension BlockingExecutor {
    /// The threads on which every demo server of the process answers. They are separate threads, so that a process
    /// whose other tasks keep all threads of the concurrency library busy still answers at once.
    static let ofServers = BlockingExecutor(name: "demo server", threads: 2)
}

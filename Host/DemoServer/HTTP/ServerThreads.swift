import NIOPosix

/// The threads that every demo server of the process answers on. They are its own: a process whose other tasks keep all threads of
/// the concurrency library busy still answers at once.
final class ServerThreads: TaskExecutor {
    static let shared = ServerThreads()

    private let threads = NIOThreadPool(numberOfThreads: 2)

    private init() { threads.start() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

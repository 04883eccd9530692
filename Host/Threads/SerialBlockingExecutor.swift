import DequeModule
import Synchronization

/// An executor that runs its owner's tasks one at a time, on threads that it shares with others (``BlockingExecutor``).
///
/// A task may block. Between two of its waits no other task of the executor runs, as if it had one thread of its own.
public final class SerialBlockingExecutor: TaskExecutor {
    private struct State {
        var jobs: Deque<UnownedJob> = []
        /// Whether a thread works, or will.
        var isWorking = false
    }

    private let state = Mutex(State())
    private let threads: BlockingExecutor
    /// The number of jobs after which others have their turn on the thread.
    private static let turn = 64

    /// Creates an executor.
    /// - Parameter threads: The executor whose threads are used.
    public init(on threads: BlockingExecutor) { self.threads = threads }

    /// Runs a job after those that were enqueued before.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = state.withLock { state in
            state.jobs.append(job)
            defer { state.isWorking = true }
            return !state.isWorking
        }
        if isFirst { threads.run { [self] in work() } }
    }

    private func work() {
        for _ in 0..<Self.turn {
            let job = state.withLock { state in
                let job = state.jobs.popFirst()
                if job == nil { state.isWorking = false }
                return job
            }
            guard let job else { return }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
        threads.run { [self] in work() }
    }
}

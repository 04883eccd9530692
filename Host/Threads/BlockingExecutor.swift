import DequeModule
import Glibc
import Synchronization

/// An executor that runs tasks on threads of its own, where they may block on the disk without holding up other tasks.
///
/// The executor must be closed. Its threads keep it alive until then.
public final class BlockingExecutor: TaskExecutor {
    private struct State {
        var jobs: Deque<UnownedJob> = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Signalled once for each job, and once for each thread after the end.
    private let available = Semaphore()
    private let threads: Int

    /// Creates an executor and starts its threads.
    /// - Parameters:
    ///   - name: The name of the threads in debuggers and `ps`, cut to 15 bytes.
    ///   - threads: The number of threads.
    public init(name: String, threads: Int) {
        self.threads = threads
        for _ in 0..<threads {
            do throws(ThreadError) { _ = try SystemThread(name: name) { [self] in work() } } catch {
                preconditionFailure("No thread could be made: \(String(cString: strerror(error.code)))")
            }
        }
    }

    /// Runs a job on one of the threads.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        available.signal()
    }

    /// Lets the threads end after the jobs that are already enqueued. No task may use the executor any more.
    public func close() {
        state.withLock { $0.isClosed = true }
        for _ in 0..<threads { available.signal() }
    }

    private func work() {
        while true {
            available.wait()
            let (job, isClosed) = state.withLock { ($0.jobs.popFirst(), $0.isClosed) }
            if let job {
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else if isClosed {
                return
            }
        }
    }
}

import DequeModule
import Dispatch
import Glibc
import Synchronization

/// Runs tasks on threads of its own, where they may block on the disk without holding up anybody else.
///
/// It must be closed; its threads keep it alive until then.
final class BlockingExecutor: TaskExecutor {
    private struct State {
        var jobs: Deque<UnownedJob> = []
        var isClosed = false
    }

    private let state = Mutex(State())
    /// As many as there are jobs, and one for each thread after the end.
    private let available = DispatchSemaphore(value: 0)
    private let threads: Int

    init(threads: Int) {
        self.threads = threads
        for _ in 0..<threads {
            var thread = pthread_t()
            let box = Unmanaged.passRetained(self)
            let code = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<BlockingExecutor>.fromOpaque(argument).takeRetainedValue().work()
                    return nil
                }, box.toOpaque())
            precondition(code == 0, "No thread could be made: \(String(cString: strerror(code)))")
            pthread_detach(thread)
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        available.signal()
    }

    /// Lets the threads end after the jobs that are there. No task may use the executor any more.
    func close() {
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

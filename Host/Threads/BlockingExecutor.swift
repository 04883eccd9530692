import DequeModule
import Dispatch
import Glibc
import Synchronization

/// An executor that runs tasks and bodies on threads of its own, where they may block on the disk without holding up
/// other tasks.
///
/// A thread starts when there is work for it, and ends after a minute of rest. A piece of work that has not ended after
/// a second, as on a disk that does not answer, keeps its thread, and another thread takes that thread's place for the
/// work behind it.
public final class BlockingExecutor: TaskExecutor {
    private enum Job {
        case task(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct State {
        var jobs: Deque<Job> = []
        var isClosed = false
        /// The number of threads, with those that rest.
        var threads = 0
        /// The number of threads that rest and were not woken.
        var resting = 0
        /// The times at which the pieces of work under way began, by numbers of their own.
        var begun: [Int: ContinuousClock.Instant] = [:]
        var last = 0
        /// Whether a thread watches how long the work under way takes.
        var isWatched = false

        /// The number of threads that are not held up.
        func free(_ longestWork: Duration) -> Int {
            guard threads > 0, !begun.isEmpty else { return threads }
            let limit = ContinuousClock.now - longestWork
            return threads - begun.values.count { $0 <= limit }
        }
    }

    /// The executor that all accounts of the process share for work on the disk.
    public static let common = BlockingExecutor(name: "blocking", threads: 4)

    private let state = Mutex(State())
    private let available = Semaphore()
    private let name: String
    private let threads: Int
    private let longestWork: Duration
    private let rest: Duration

    /// Creates an executor. The first thread starts with the first piece of work.
    /// - Parameters:
    ///   - name: The name of the threads in debuggers and `ps`, cut to 15 bytes.
    ///   - threads: The largest number of threads, of which one that is held up does not count.
    ///   - longestWork: The time after which a piece of work counts as held up.
    ///   - rest: The time without work after which a thread ends.
    public init(name: String, threads: Int, longestWork: Duration = .seconds(1), rest: Duration = .seconds(60)) {
        (self.name, self.threads, self.longestWork, self.rest) = (name, threads, longestWork, rest)
    }

    /// Runs a job on one of the threads.
    public func enqueue(_ job: consuming ExecutorJob) { add(.task(UnownedJob(job))) }

    /// Runs a body on one of the threads, without waiting for its end.
    public func run(_ body: @escaping @Sendable () -> Void) { add(.body(body)) }

    /// Lets the threads end after the work that is already enqueued. No task may use the executor any more.
    public func close() {
        state.withLock { state in
            state.isClosed = true
            for _ in 0..<state.resting { available.signal() }
            state.resting = 0
        }
    }

    /// The number of threads.
    var count: Int { state.withLock { $0.threads } }

    private func add(_ job: Job) {
        let (isNew, isFirstToWait) = state.withLock { state in
            state.jobs.append(job)
            if state.resting > 0 {
                state.resting -= 1
                available.signal()
                return (false, false)
            }
            if state.free(longestWork) < threads {
                state.threads += 1
                return (true, false)
            }
            defer { state.isWatched = true }
            return (false, !state.isWatched)
        }
        if isNew { start() }
        if isFirstToWait { watch() }
    }

    /// Starts a thread that is already counted. Where the system has none left, the other threads do the work; where
    /// there are no others, a thread of the system's pool does it as soon as the pool has one.
    private func start() {
        do throws(ThreadError) { _ = try SystemThread(name: name) { [self] in work() } } catch {
            let isLast = state.withLock { state in
                if state.threads == 1 { return true }
                state.threads -= 1
                return false
            }
            if isLast { DispatchQueue.global().async { [self] in work() } }
        }
    }

    private func work() {
        var number: Int?
        while true {
            let (job, isSurplus) = state.withLock { state -> (Job?, Bool) in
                if let ended = number { state.begun[ended] = nil }
                number = nil
                if state.threads > 1, state.free(longestWork) > threads {
                    state.threads -= 1
                    return (nil, true)
                }
                guard let job = state.jobs.popFirst() else {
                    guard !state.isClosed else {
                        state.threads -= 1
                        return (nil, true)
                    }
                    state.resting += 1
                    return (nil, false)
                }
                state.last += 1
                number = state.last
                state.begun[state.last] = .now
                return (job, false)
            }
            switch job {
            case .task(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .body(let body): body()
            case nil: if isSurplus || hasRested() { return }
            }
        }
    }

    /// Waits for work.
    /// - Returns: Whether none came, so that the thread ends.
    private func hasRested() -> Bool {
        if available.wait(atMost: rest) { return false }
        return state.withLock { state in
            // The thread may have been woken just now.
            guard !available.take() else { return false }
            state.resting -= 1
            state.threads -= 1
            return true
        }
    }

    /// Starts further threads in place of those that are held up, while work waits.
    private func watch() {
        do throws(ThreadError) {
            _ = try SystemThread(name: "\(name) watch") { [self] in
                while true {
                    usleep(useconds_t(max(1000, longestWork / .microseconds(4))))
                    let new = state.withLock { state -> Int? in
                        guard !state.jobs.isEmpty else {
                            state.isWatched = false
                            return nil
                        }
                        let new = min(state.jobs.count, max(0, threads - state.free(longestWork)))
                        state.threads += new
                        return new
                    }
                    guard let new else { return }
                    for _ in 0..<new { start() }
                }
            }
        } catch {
            // The next piece of work that has to wait begins the watch.
            state.withLock { $0.isWatched = false }
        }
    }
}

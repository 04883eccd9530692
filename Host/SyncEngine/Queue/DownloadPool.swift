import DequeModule
import Model
import Synchronization
import Threads

/// The outcome of a download that was handed out.
enum FetchOutcome: Sendable {
    case complete(Fetched)
    case failed(FetchFailure)
    /// A download whose record was taken away after the start.
    case cancelled
    /// A download about which the state in memory may be out of date. The engine reads its record again.
    case notStarted
}

/// The downloads that the engine has handed out to the workers, and the workers' outcomes.
///
/// The engine hands out more downloads than can be under way, and takes several outcomes at a time, so that neither
/// side waits for the other for each file. A worker belongs to one thread and ends when it has nothing to do.
final class DownloadPool: Sendable {
    typealias Outcome = (job: Job, outcome: FetchOutcome)

    private struct State {
        var waiting: Deque<Job> = []
        var outcomes: [Outcome] = []
        /// The number of workers of each thread.
        var workers: [Int]
        /// The places that downloads of batches have taken.
        var batched = 0
        /// The number of large files among ``waiting``.
        var waitingLarge = 0
        /// The large files that are under way.
        var large: Set<SyncRecordID> = []
        /// The records under way that are not yet marked as started in the journal.
        var unmarked: Set<SyncRecordID> = []
        /// Whether a download failed or could not be started. No other download is started before the engine has
        /// handled that outcome.
        var isHalted = false
        /// Whether the engine knows that there are outcomes or records to mark.
        var isSignalled = false

        var hasNews: Bool { !outcomes.isEmpty || !unmarked.isEmpty }

        /// The number of jobs that workers could begin if there were any number of them.
        func startable(mostLarge: @autoclosure () -> Int) -> Int {
            guard waitingLarge > 0 else { return waiting.count }
            return waiting.count - waitingLarge + min(waitingLarge, max(0, mostLarge() - large.count))
        }

        /// Takes the first job that may start.
        /// - Parameter mostLarge: The number of large files that may be under way.
        mutating func takeNext(mostLarge: @autoclosure () -> Int) -> Job? {
            let next =
                waitingLarge == 0 || large.count < mostLarge()
                ? waiting.startIndex : waiting.firstIndex { $0.sizeClass == .small } ?? waiting.endIndex
            guard next < waiting.endIndex else { return nil }
            let job = waiting.remove(at: next)
            if job.sizeClass == .large {
                waitingLarge -= 1
                large.insert(job.id)
            }
            return job
        }
    }

    private let state: Mutex<State>
    private let mostWorkers: Int
    /// Tells how many downloads of a size help.
    private let atOnce: @Sendable (SizeClass) -> Int
    /// The signal that there are outcomes or records to mark, sent by a worker that goes on. A worker that ends reports
    /// its outcomes by ending.
    let signal = Signal()

    /// Creates an empty pool.
    /// - Parameter workers: The number of downloads that may be under way.
    /// - Parameter atOnce: Returns the number of downloads of a size that it helps to have under way. It is called often.
    init(
        workers: Int, threads: Int,
        atOnce: @escaping @Sendable (SizeClass) -> Int = { _ in Limits.mostByItself }
    ) {
        (mostWorkers, self.atOnce) = (workers, atOnce)
        state = Mutex(State(workers: Array(repeating: 0, count: threads)))
    }

    /// One more than help is begun, so that their number is not smaller between two files.
    private var mostLarge: Int { min(SizeClass.mostLarge(of: mostWorkers), atOnce(.large) + 1) }

    /// Hands out jobs, behind those that wait. Ends a halt if the outcome that caused it was taken.
    /// - Returns: The threads that need another worker for the jobs, with one entry for each worker.
    func hand(_ jobs: some Sequence<Job>) -> [Int] {
        let most = min(mostWorkers, atOnce(.small) + atOnce(.large))
        return state.withLock { state in
            for job in jobs {
                state.waiting.append(job)
                if job.sizeClass == .large { state.waitingLarge += 1 }
            }
            if state.outcomes.isEmpty { state.isHalted = false }
            let needed = min(
                state.startable(mostLarge: mostLarge), most - state.workers.reduce(0, +) - state.batched)
            return (0..<max(0, needed)).map { _ in
                let thread = state.workers.indices.min { state.workers[$0] < state.workers[$1] } ?? 0
                state.workers[thread] += 1
                return thread
            }
        }
    }

    /// Starts the next job for a worker of a thread: the first that waits, or the first of a small file if as many large
    /// ones as may be are under way.
    ///
    /// Taking a job and starting it are one step: a job that ``recall()`` does not bring back was started before the
    /// call.
    /// - Parameter start: Starts a job. It must not call the pool.
    /// - Returns: The job and the result of `start`, or nil if the worker must end.
    func next<T>(on thread: Int, _ start: (Job) -> sending T) -> (job: Job, started: T)? {
        let (next, signals): ((Job, T)?, Bool) = state.withLock { state in
            guard !state.isHalted, !Task.isCancelled, let job = state.takeNext(mostLarge: mostLarge) else {
                state.workers[thread] -= 1
                return (nil, false)
            }
            if job.record.state == .ready { state.unmarked.insert(job.id) }
            defer { state.isSignalled = state.hasNews }
            return ((job, start(job)), state.hasNews && !state.isSignalled)
        }
        if signals { signal.send() }
        return next
    }

    /// Takes a place for a download of a batch, unless a job waits for the place or there is none.
    /// - Returns: Whether there was one.
    func takePlace() -> Bool {
        state.withLock { state in
            let isFree =
                state.workers.reduce(0, +) + state.batched < mostWorkers
                && (state.isHalted || state.startable(mostLarge: mostLarge) == 0)
            if isFree { state.batched += 1 }
            return isFree
        }
    }

    /// Gives a download's place back.
    func leavePlace() {
        let isWanted = state.withLock { state in
            state.batched -= 1
            return !state.isHalted && state.startable(mostLarge: mostLarge) > 0
        }
        // The engine begins workers when it hands out.
        if isWanted { signal.send() }
    }

    /// Takes a worker's outcome.
    func deliver(_ outcome: Outcome) {
        state.withLock { state in
            state.unmarked.remove(outcome.job.id)
            state.large.remove(outcome.job.id)
            state.outcomes.append(outcome)
            guard case .complete = outcome.outcome else {
                state.isHalted = true
                return
            }
        }
    }

    func takeOutcomes() -> [Outcome] {
        state.withLock { state in
            defer { (state.outcomes, state.isSignalled) = ([], false) }
            return state.outcomes
        }
    }

    /// Takes back the jobs that were not started, in their order.
    func recall() -> Deque<Job> {
        state.withLock { state in
            defer { (state.waiting, state.waitingLarge) = ([], 0) }
            return state.waiting
        }
    }

    var hasUnmarked: Bool { state.withLock { !$0.unmarked.isEmpty } }

    /// Returns the records under way that must be marked as started. Returns each record once.
    func takeUnmarked() -> [SyncRecordID] {
        state.withLock { state in
            defer { state.unmarked = [] }
            return Array(state.unmarked)
        }
    }
}

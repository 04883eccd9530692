import DequeModule
import Model
import Synchronization
import Threads

/// What became of a download that was handed out.
enum FetchOutcome: Sendable {
    case complete(Fetched)
    case failed(FetchFailure)
    /// Its record was taken away meanwhile.
    case cancelled
    /// What is known of it may be out of date: it is looked at again.
    case notStarted
}

/// Downloads between the engine, which hands them out, and the workers that carry them out.
///
/// The engine hands out more than can be under way and takes results several at a time, so that neither waits for the other for each
/// file. A worker belongs to one thread and ends when there is nothing for it to do.
final class DownloadPool: Sendable {
    typealias Outcome = (job: Job, outcome: FetchOutcome)

    private struct State {
        var waiting: Deque<Job> = []
        var outcomes: [Outcome] = []
        /// How many workers each thread has.
        var workers: [Int]
        /// Under way, and not yet marked as started in the journal.
        var unmarked: Set<SyncRecordID> = []
        /// A download failed or could not be started, and no other is before the engine has looked at it.
        var isHalted = false
        /// The engine knows that there are outcomes or records to mark.
        var isSignalled = false

        var hasNews: Bool { !outcomes.isEmpty || !unmarked.isEmpty }
    }

    private let state: Mutex<State>
    private let mostWorkers: Int
    /// Sent when there are outcomes or records to mark and a worker goes on. A worker that ends tells of outcomes by its end.
    let signal = Signal()

    /// - Parameter workers: How many downloads may be under way.
    init(workers: Int, threads: Int) {
        mostWorkers = workers
        state = Mutex(State(workers: Array(repeating: 0, count: threads)))
    }

    /// Hands out jobs, behind those that wait, and ends a halt whose reason was taken.
    /// - Returns: the threads that need a worker more for them, one for each.
    func hand(_ jobs: some Sequence<Job>) -> [Int] {
        state.withLock { state in
            state.waiting.append(contentsOf: jobs)
            if state.outcomes.isEmpty { state.isHalted = false }
            let needed = min(state.waiting.count, mostWorkers - state.workers.reduce(0, +))
            return (0..<max(0, needed)).map { _ in
                let thread = state.workers.indices.min { state.workers[$0] < state.workers[$1] } ?? 0
                state.workers[thread] += 1
                return thread
            }
        }
    }

    /// Starts the next job for a worker of a thread.
    ///
    /// Taking and starting are one step: what ``recall()`` does not bring back was started before it.
    /// - Parameter start: What starts a job; it must not call the pool.
    /// - Returns: the job and what was started; nil: the worker ends.
    func next<T>(on thread: Int, _ start: (Job) -> sending T) -> (job: Job, started: T)? {
        let (next, signals): ((Job, T)?, Bool) = state.withLock { state in
            guard !state.isHalted, !Task.isCancelled, let job = state.waiting.popFirst() else {
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

    /// Takes a worker's result.
    func deliver(_ outcome: Outcome) {
        state.withLock { state in
            state.unmarked.remove(outcome.job.id)
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

    /// Takes back what was not started, in its order.
    func recall() -> Deque<Job> {
        state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    var hasUnmarked: Bool { state.withLock { !$0.unmarked.isEmpty } }

    /// The records under way that are to be marked as started, once each.
    func takeUnmarked() -> [SyncRecordID] {
        state.withLock { state in
            defer { state.unmarked = [] }
            return Array(state.unmarked)
        }
    }
}

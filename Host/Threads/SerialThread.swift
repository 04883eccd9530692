import Synchronization

/// A thread that does one thing after the other, in the order in which they were asked for.
///
/// What it does may block, for ever if it comes to that: a task that wants something done waits for it without a thread, and can be let
/// go. It must be closed or given up; the thread keeps itself until then. Where one thread does everything (``Workplace``), it is that one.
public final class SerialThread: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        /// Who waits for a job, by its number.
        var waiters: [Int: @Sendable (any Error) -> Void] = [:]
        /// Those of them who do without it when the thread hangs.
        var hurried: Set<Int> = []
        var last = 0
    }

    /// What the thread and its owner share.
    private final class Core: Sendable {
        let state = Mutex(State())
        let wake = Semaphore()

        func work() {
            while true {
                wake.wait()
                let (job, isLast) = state.withLock { state -> (Job?, Bool) in
                    let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
                    return (job, state.isClosed && state.jobs.isEmpty)
                }
                job?()
                if isLast { return }
            }
        }

        /// Does on the calling thread what was asked for.
        func workHere() {
            while let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { job() }
        }

        func takeWaiter(_ number: Int) -> (@Sendable (any Error) -> Void)? {
            state.withLock { state in
                state.hurried.remove(number)
                return state.waiters.removeValue(forKey: number)
            }
        }
    }

    private let core: Core
    /// Nil: whoever asks does what was asked for.
    private let thread: SystemThread?
    public let name: String

    /// Begins the thread.
    /// - Parameters:
    ///   - name: What debuggers and `ps` show, cut to 15 bytes.
    ///   - stackSize: In bytes; nil: as the system has it.
    ///   - around: Runs all of the thread's work, and may do something on the thread before and after it.
    /// - Throws: ``ThreadError`` if the system has no thread to give.
    public init(
        name: String, stackSize: Int? = nil, around: @escaping @Sendable (_ work: () -> Void) -> Void = { $0() }
    ) throws(ThreadError) {
        self.name = name
        let core = Core()
        self.core = core
        thread =
            Workplace.single == nil
            ? try SystemThread(name: name, stackSize: stackSize) { around { core.work() } } : nil
    }

    /// Whether the caller is on this thread.
    public var isCurrent: Bool { thread?.isCurrent ?? true }

    /// Runs the body on the thread, after everything that was asked before.
    /// - Parameter isHurried: whether ``passOver()`` ends the wait. The body goes on then if it has begun, and does not begin if not.
    /// - Throws: what the body throws; `CancellationError` once the thread was closed or given up; `PassedOver` if passed over.
    public func run<Result: Sendable>(
        isHurried: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        if thread == nil {
            core.workHere()
            guard !core.state.withLock(\.isClosed) else { throw CancellationError() }
            return try body()
        }
        return try await withCheckedThrowingContinuation { continuation in
            let number = core.state.withLock { state in
                state.last += 1
                state.waiters[state.last] = { continuation.resume(throwing: $0) }
                if isHurried { state.hurried.insert(state.last) }
                return state.last
            }
            let isAccepted = enqueue { [core] in
                guard core.state.withLock({ $0.waiters[number] != nil }) else { return }
                let result = Swift.Result { try body() }
                if core.takeWaiter(number) != nil { continuation.resume(with: result) }
            }
            if !isAccepted { core.takeWaiter(number)?(CancellationError()) }
        }
    }

    /// What is under way hangs: who is in a hurry waits no longer.
    public func passOver() {
        let waiters = core.state.withLock { state in
            defer { state.hurried = [] }
            return state.hurried.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in waiters { waiter(PassedOver()) }
    }

    /// Nobody waits any longer for what is under way or was asked; what has not begun is dropped. The thread ends when what is under
    /// way does, if ever.
    public func giveUp() {
        let waiters = core.state.withLock { state in
            state.isClosed = true
            state.jobs = []
            state.hurried = []
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.self)
        }
        for waiter in waiters { waiter(CancellationError()) }
        core.wake.signal()
    }

    /// Ends the thread after what was asked before; returns when it has nothing left to do.
    public func close() async {
        if thread == nil {
            core.workHere()
            return core.state.withLock { $0.isClosed = true }
        }
        await withCheckedContinuation { continuation in
            let isFirst = core.state.withLock { state in
                guard !state.isClosed else { return false }
                state.last += 1
                let number = state.last
                state.waiters[number] = { _ in continuation.resume() }
                state.jobs.append { [core] in if core.takeWaiter(number) != nil { continuation.resume() } }
                state.isClosed = true
                return true
            }
            if isFirst { core.wake.signal() } else { continuation.resume() }
        }
    }

    /// Runs the job on the thread, after everything that was asked before.
    /// - Returns: false if the thread was closed; the job is dropped.
    @discardableResult
    public func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool {
        let isAccepted = core.state.withLock { state in
            guard !state.isClosed else { return false }
            state.jobs.append(job)
            return true
        }
        if isAccepted { core.wake.signal() }
        return isAccepted
    }
}

/// What was asked of a thread was not done, since it hangs in something else.
public struct PassedOver: Error {
    public init() {}
}

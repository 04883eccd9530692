import Synchronization

/// A thread that runs bodies one after the other, in the order in which they were passed.
///
/// A body may block, even for ever: a task that passes a body waits without blocking a thread, and its wait can be
/// ended. The thread must be closed or given up, and keeps itself alive until then. Where all work runs on one thread
/// (``Workplace``), no thread is started, and bodies run on the caller's thread.
public final class SerialThread: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        /// The functions that end the waits of tasks with an error, by the waits' numbers.
        var waiters: [Int: @Sendable (any Error) -> Void] = [:]
        /// The numbers of the waits that end when the thread hangs.
        var hurried: Set<Int> = []
        var last = 0
    }

    /// The state that the thread and its owner share.
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

        /// Runs the enqueued jobs on the calling thread.
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
    /// The thread, or nil if the caller's thread runs the bodies.
    private let thread: SystemThread?
    /// The thread's name.
    public let name: String

    /// Starts the thread.
    /// - Parameters:
    ///   - name: The name in debuggers and `ps`, cut to 15 bytes.
    ///   - stackSize: The size of the stack in bytes, or nil for the system's default.
    ///   - around: Runs all of the thread's work. It may do something on the thread before and after the work.
    /// - Throws: ``ThreadError`` if the system cannot create a thread.
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

    /// Whether the caller runs on this thread.
    public var isCurrent: Bool { thread?.isCurrent ?? true }

    /// Runs the body on the thread, after all bodies and jobs that were passed before.
    /// - Parameter isHurried: Whether ``passOver()`` ends the wait. After that, a body that has begun goes on, and a
    ///   body that has not begun does not begin.
    /// - Throws: The error that the body throws; `CancellationError` if the thread was closed or given up;
    ///   ``PassedOver`` if ``passOver()`` ended the wait.
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

    /// Ends the waits of hurried callers, since the body that is under way hangs.
    public func passOver() {
        let waiters = core.state.withLock { state in
            defer { state.hurried = [] }
            return state.hurried.compactMap { state.waiters.removeValue(forKey: $0) }
        }
        for waiter in waiters { waiter(PassedOver()) }
    }

    /// Ends all waits for bodies that are under way or still to come, and drops the bodies that have not begun. The
    /// thread ends when the body that is under way ends, if ever.
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

    /// Ends the thread after the bodies that were passed before. Returns when no work is left.
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

    /// Runs a job on the thread, after all bodies and jobs that were passed before.
    /// - Returns: Whether the job was accepted. False means that the thread was closed and the job is dropped.
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

/// The error of a body that was not run, or whose result was not awaited, since the thread hangs in another body.
public struct PassedOver: Error {
    /// Creates the error.
    public init() {}
}

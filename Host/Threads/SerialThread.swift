import Synchronization

/// A thread that runs bodies one after the other, in the order in which they were passed.
///
/// A body may block, even for ever: a task that passes a body waits without blocking a thread, and its wait can be
/// ended. After a minute without a body the thread ends, and the next body comes with another one. The thread must be
/// closed or given up. Where all work runs on one thread (``Workplace``), no thread is started, and bodies run on the
/// caller's thread.
public final class SerialThread: Sendable {
    private typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isClosed = false
        /// Whether there is a thread.
        var isRunning = false
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
        /// The thread as ``SystemThread/current`` has it; 0 while there is none.
        let current = Atomic<UInt>(0)
        let name: String
        let stackSize: Int?
        let rest: Duration
        let around: @Sendable (_ work: () -> Void) -> Void

        init(
            name: String, stackSize: Int?, rest: Duration, around: @escaping @Sendable (_ work: () -> Void) -> Void
        ) {
            (self.name, self.stackSize, self.rest, self.around) = (name, stackSize, rest, around)
        }

        /// Starts a thread; `isRunning` is already set. If the system has no thread, all waits end with the error, and
        /// the bodies that nobody waits for stay for the next thread.
        func start() throws(ThreadError) {
            do throws(ThreadError) {
                _ = try SystemThread(name: name, stackSize: stackSize) { [self] in around { work() } }
            } catch {
                let waiters = state.withLock { state in
                    (state.isRunning, state.hurried) = (false, [])
                    defer { state.waiters = [:] }
                    return state.waiters.values.map(\.self)
                }
                for waiter in waiters { waiter(error) }
                throw error
            }
        }

        private func work() {
            current.store(SystemThread.current, ordering: .relaxed)
            while true {
                let (job, isEnd) = state.withLock { state -> (Job?, Bool) in
                    if !state.jobs.isEmpty { return (state.jobs.removeFirst(), false) }
                    if state.isClosed { end(&state) }
                    return (nil, state.isClosed)
                }
                if isEnd { return }
                if let job { job() } else if hasRested() { return }
            }
        }

        /// Waits for a body.
        /// - Returns: Whether none came, so that the thread ends.
        private func hasRested() -> Bool {
            let isOneTooMany = resting.add(1, ordering: .relaxed).newValue > mostResting
            defer { resting.subtract(1, ordering: .relaxed) }
            if wake.wait(atMost: isOneTooMany ? .milliseconds(10) : rest) { return false }
            return state.withLock { state in
                guard state.jobs.isEmpty else { return false }
                end(&state)
                return true
            }
        }

        private func end(_ state: inout State) {
            state.isRunning = false
            current.store(0, ordering: .relaxed)
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

    /// The number of threads of the process that rest now, and the largest number that do so for a minute.
    private static let resting = Atomic(0)
    private static let mostResting = 64

    private let core: Core
    private let hasThread = Workplace.single == nil

    /// Starts the thread.
    /// - Parameters:
    ///   - name: The name in debuggers and `ps`, cut to 15 bytes.
    ///   - stackSize: The size of the stack in bytes, or nil for the system's default.
    ///   - rest: The time without a body after which the thread ends until the next body. It is shorter where many
    ///     threads of the process rest.
    ///   - around: Runs all of a thread's work. It may do something on the thread before and after the work.
    /// - Throws: ``ThreadError`` if the system cannot create a thread.
    public init(
        name: String, stackSize: Int? = nil, rest: Duration = .seconds(60),
        around: @escaping @Sendable (_ work: () -> Void) -> Void = { $0() }
    ) throws(ThreadError) {
        core = Core(name: name, stackSize: stackSize, rest: rest, around: around)
        guard hasThread else { return }
        core.state.withLock { $0.isRunning = true }
        try core.start()
    }

    /// The thread's name.
    public var name: String { core.name }

    /// Whether the caller runs on this thread.
    public var isCurrent: Bool { !hasThread || core.current.load(ordering: .relaxed) == SystemThread.current }

    /// Whether the thread exists and has not ended for want of work.
    var isRunning: Bool { core.state.withLock { $0.isRunning } }

    /// Runs the body on the thread, after all bodies and jobs that were passed before.
    /// - Parameter isHurried: Whether ``passOver()`` ends the wait. After that, a body that has begun goes on, and a
    ///   body that has not begun does not begin.
    /// - Throws: The error that the body throws; `CancellationError` if the thread was closed or given up;
    ///   ``PassedOver`` if ``passOver()`` ended the wait; ``ThreadError`` if the system cannot create a thread.
    public func run<Result: Sendable>(
        isHurried: Bool = false, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        guard hasThread else {
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
            do {
                try add { [core] in
                    guard core.state.withLock({ $0.waiters[number] != nil }) else { return }
                    let result = Swift.Result { try body() }
                    if core.takeWaiter(number) != nil { continuation.resume(with: result) }
                }
            } catch {
                core.takeWaiter(number)?(error)
            }
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
        guard hasThread else {
            core.workHere()
            return core.state.withLock { $0.isClosed = true }
        }
        await withCheckedContinuation { continuation in
            let isWaiting = core.state.withLock { state in
                defer { state.isClosed = true }
                guard !state.isClosed, state.isRunning else { return false }
                state.last += 1
                let number = state.last
                state.waiters[number] = { _ in continuation.resume() }
                state.jobs.append { [core] in if core.takeWaiter(number) != nil { continuation.resume() } }
                return true
            }
            if isWaiting { core.wake.signal() } else { continuation.resume() }
        }
    }

    /// Runs a body on the thread, after all bodies that were passed before, without waiting for it. If the thread was
    /// closed, the body does not run.
    public func enqueue(_ body: @escaping @Sendable () -> Void) {
        do { try add(body) } catch {
            // The thread was closed, or the body stays for the next thread.
        }
    }

    /// - Throws: `CancellationError` if the thread was closed; ``ThreadError`` if the system cannot create a thread.
    private func add(_ job: @escaping Job) throws {
        let isNew = try core.state.withLock { state throws in
            guard !state.isClosed else { throw CancellationError() }
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isNew { try core.start() } else { core.wake.signal() }
    }
}

/// The error of a body that was not run, or whose result was not awaited, since the thread hangs in another body.
public struct PassedOver: Error {
    /// Creates the error.
    public init() {}
}

import Synchronization

/// A wait for asynchronous work on a thread that may block, such as a plugin's. The waiting thread owns the tasks. Any
/// thread can end them with ``cancel()``.
public final class BlockingWait: Sendable {
    private struct State {
        var isCancelled = false
        var last = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Creates a wait without tasks.
    public init() {}

    /// Whether ``cancel()`` was called.
    public var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Cancels the tasks that are under way, and all that begin later.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            for task in state.tasks.values { task.cancel() }
        }
    }

    /// Runs the body as a task and blocks until it has ended.
    /// - Throws: The error that the body throws.
    public func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        try begin(body).wait()
    }

    /// Runs the body as a task whose result can be waited for later.
    /// - Returns: The work. When this object is released, the task has ended: if nobody waited for the task, it is
    ///   cancelled.
    public func begin<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Work<Value> {
        let done = WaitBox<Value>()
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            done.set(result)
        }
        let number = state.withLock { state in
            state.last += 1
            state.tasks[state.last] = task
            if state.isCancelled { task.cancel() }
            return state.last
        }
        return Work(done, task) { [self] in state.withLock { _ = $0.tasks.removeValue(forKey: number) } }
    }

    /// A task that was begun. Used by one thread.
    public final class Work<Value: Sendable> {
        private var done: WaitBox<Value>?
        private let task: Task<Void, Never>
        private let forget: () -> Void

        fileprivate init(_ done: WaitBox<Value>, _ task: Task<Void, Never>, forget: @escaping () -> Void) {
            (self.done, self.task, self.forget) = (done, task, forget)
        }

        /// Blocks until the task has ended. May be called once.
        /// - Throws: The error that the body threw; `CancellationError` at the second call.
        public func wait() throws -> Value {
            guard let done = done.take() else { throw CancellationError() }
            defer { forget() }
            return try done.get().get()
        }

        deinit {
            guard let done else { return }
            task.cancel()
            _ = done.get()
            forget()
        }
    }
}

/// A box in which a task leaves its result for a waiting thread.
private final class WaitBox<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isThere = Semaphore()

    func set(_ value: Result<Value, any Error>) {
        result.withLock { $0 = value }
        isThere.signal()
    }

    func get() -> Result<Value, any Error> {
        while true {
            isThere.wait()
            if let value = result.withLock({ $0 }) { return value }
        }
    }
}

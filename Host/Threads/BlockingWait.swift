import Synchronization

/// Waits for asynchronous work on a thread that may block, such as a plugin's. The waiting thread owns the task, and ends it with
/// ``cancel()`` from any thread.
public final class BlockingWait: Sendable {
    private struct State {
        var isCancelled = false
        var last = 0
        var tasks: [Int: Task<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    public init() {}

    public var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Ends what is under way, and all that is begun later.
    public func cancel() {
        state.withLock { state in
            state.isCancelled = true
            for task in state.tasks.values { task.cancel() }
        }
    }

    /// Runs the body as a task and blocks until it has ended.
    /// - Throws: What the body throws.
    public func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        try begin(body).wait()
    }

    /// Runs the body as a task, to be waited for later. When the work that is returned goes, it has ended: it is cancelled, if nobody
    /// waited for it.
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

    /// What was begun. Used by one thread.
    public final class Work<Value: Sendable> {
        private var done: WaitBox<Value>?
        private let task: Task<Void, Never>
        private let forget: () -> Void

        fileprivate init(_ done: WaitBox<Value>, _ task: Task<Void, Never>, forget: @escaping () -> Void) {
            (self.done, self.task, self.forget) = (done, task, forget)
        }

        /// Blocks until it has ended. Once.
        /// - Throws: What the body threw; `CancellationError` the second time.
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

/// Where a task leaves its result for a thread that waits.
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

import Glibc
import Synchronization

/// Waits for asynchronous work on a plugin's thread, which may block. The waiting thread owns the task, and ends it with
/// ``cancel()`` from any thread.
final class BlockingWait: Sendable {
    private struct State {
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// Ends what is waited for, and all that is waited for later.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.task?.cancel()
        }
    }

    /// Runs the body as a task and blocks until it has ended.
    func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let done = WaitBox<Value>()
        let task = Task {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            done.set(result)
        }
        state.withLock { state in
            state.task = task
            if state.isCancelled { task.cancel() }
        }
        defer { state.withLock { $0.task = nil } }
        return try done.get().get()
    }
}

/// Where a task leaves its result for a thread that waits.
///
/// Unchecked: POSIX lets every thread post to a semaphore and wait for it; its memory never moves, and both who hold the box are done
/// with it when it goes.
private final class WaitBox<Value: Sendable>: @unchecked Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func set(_ value: Result<Value, any Error>) {
        result.withLock { $0 = value }
        sem_post(semaphore)
    }

    func get() -> Result<Value, any Error> {
        while true {
            while sem_wait(semaphore) != 0 {}
            if let value = result.withLock({ $0 }) { return value }
        }
    }
}

import Synchronization

/// A gate that holds tasks and threads until a test opens it. An open gate stays open.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        /// The number of tasks and threads that have reached the gate.
        var arrived = 0
        var lastID = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())
    /// Whether the gate also holds cancelled tasks.
    public let ignoresCancellation: Bool

    public init(ignoresCancellation: Bool = false) { self.ignoresCancellation = ignoresCancellation }

    /// Whether the gate is open.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Opens the gate, and releases everything that waits at it.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in waiting { waiter.resume() }
    }

    /// Waits until the gate is open or, unless the gate ignores cancellation, the task is cancelled.
    public func pass() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    state.arrived += 1
                    if state.isOpen || Task.isCancelled && !ignoresCancellation { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        } onCancel: {
            guard !ignoresCancellation else { return }
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Blocks the thread until the gate is open.
    public func passOnThread() {
        state.withLock { $0.arrived += 1 }
        untilOnThread { isOpen }
    }

    /// Waits until the gate has been reached `times` times, whether it was open then or not.
    public func untilReached(times: Int = 1) async {
        await until { state.withLock { $0.arrived } >= times }
    }
}

import Synchronization

/// A state behind a lock, with the tasks that wait for conditions of the state.
///
/// After each change the conditions of the waiting tasks are checked again under the same lock, in the order in which
/// the tasks came. A task that takes something out of the state therefore has it for itself.
public final class Monitor<State: Sendable>: Sendable {
    /// Tells whether a task may go on. If so, the condition may take something out of the state.
    public typealias Condition = @Sendable (inout State) -> Bool

    private struct Waiter: Sendable {
        let number: Int
        let condition: Condition
        /// The continuation, resumed with whether the condition was met.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct Content: Sendable {
        var state: State
        var waiters: [Waiter] = []
        var last = 0
        /// The numbers of the waits that were cancelled before they began.
        var cancelled: Set<Int> = []

        /// Removes and returns the waiters whose condition is met.
        mutating func takeMet() -> [Waiter] {
            guard !waiters.isEmpty else { return [] }
            var met: [Waiter] = []
            waiters.removeAll { waiter in
                guard waiter.condition(&state) else { return false }
                met.append(waiter)
                return true
            }
            return met
        }
    }

    private let content: Mutex<Content>

    /// Creates a monitor with an initial state.
    public init(_ state: State) { content = Mutex(Content(state: state)) }

    /// The number of waiting tasks.
    public var waiting: Int { content.withLock { $0.waiters.count } }

    /// Reads the state.
    public func with<T: Sendable>(_ body: (State) -> T) -> T { content.withLock { body($0.state) } }

    /// Changes the state, and lets the tasks go on whose condition is now met. The function may be called on any
    /// thread. `body` must not call the monitor.
    @discardableResult
    public func change<T: Sendable>(_ body: (inout State) -> T) -> T {
        let (result, met): (T, [Waiter]) = content.withLock { content in
            let result = body(&content.state)
            return (result, content.takeMet())
        }
        for waiter in met { waiter.continuation.resume(returning: true) }
        return result
    }

    /// Waits until a condition is met. Cancelling the task does not end the wait.
    /// - Parameter condition: Checked under the lock, at once and after each change. It must not call the monitor.
    public func wait(until condition: @escaping Condition) async {
        _ = await withCheckedContinuation { continuation in
            let isMet = content.withLock { content in
                if condition(&content.state) { return true }
                content.last += 1
                content.waiters.append(
                    Waiter(number: content.last, condition: condition, continuation: continuation))
                return false
            }
            if isMet { continuation.resume(returning: true) }
        }
    }

    /// Waits until a condition is met, like ``wait(until:)``, or until the task is cancelled.
    /// - Throws: `CancellationError`. The condition was not met then, and has taken nothing.
    public func waitUnlessCancelled(until condition: @escaping Condition) async throws(CancellationError) {
        // Most calls need not wait at all.
        let number: Int? = content.withLock { content in
            if condition(&content.state) { return nil }
            content.last += 1
            return content.last
        }
        guard let number else { return }
        let isMet = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = content.withLock { content in
                    if content.cancelled.remove(number) != nil { return false }
                    if condition(&content.state) { return true }
                    content.waiters.append(Waiter(number: number, condition: condition, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter: Waiter? = content.withLock { content in
                guard let place = content.waiters.firstIndex(where: { $0.number == number }) else {
                    content.cancelled.insert(number)
                    return nil
                }
                return content.waiters.remove(at: place)
            }
            waiter?.continuation.resume(returning: false)
        }
        // A task that was cancelled just as it went on has left its number behind.
        content.withLock { _ = $0.cancelled.remove(number) }
        guard isMet else { throw CancellationError() }
    }
}

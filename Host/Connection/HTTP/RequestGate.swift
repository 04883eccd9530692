import Synchronization

/// Lets a number of requests through at a time; the others wait in the order in which they came.
final class RequestGate: Sendable {
    private struct State {
        var free: Int
        var nextTicket = 0
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        /// Tickets whose task was cancelled before it began to wait.
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    init(width: Int) {
        state = Mutex(State(free: max(1, width)))
    }

    /// Returns when there is room, which is then taken until `leave()`.
    /// - Throws: `CancellationError`; then no room was taken.
    func enter() async throws(CancellationError) {
        let ticket: Int? = state.withLock { state in
            if state.free > 0, state.waiting.isEmpty {
                state.free -= 1
                return nil
            }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return }
        let entered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return false }
                    if state.free > 0, state.waiting.isEmpty {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((ticket, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiting: CheckedContinuation<Bool, Never>? = state.withLock { state in
                guard let place = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                    state.cancelled.insert(ticket)
                    return nil
                }
                return state.waiting.remove(at: place).continuation
            }
            waiting?.resume(returning: false)
        }
        // A task that was cancelled just as it was let in left its ticket behind.
        state.withLock { _ = $0.cancelled.remove(ticket) }
        guard entered else { throw CancellationError() }
    }

    /// Gives the room to whoever waits longest.
    func leave() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}

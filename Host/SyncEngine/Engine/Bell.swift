import Synchronization

/// Wakes one waiting task. A ring while nobody waits is kept; several are one.
public final class Bell: Sendable {
    private struct State {
        var isRung = false
        var listener: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    public init() {}

    public func ring() {
        let listener = state.withLock { state in
            state.isRung = state.listener == nil
            return state.listener.take()
        }
        listener?.resume()
    }

    /// Returns after the next ring, or when the task is cancelled.
    public func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.isRung || Task.isCancelled {
                        state.isRung = false
                        return true
                    }
                    state.listener = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            let listener = state.withLock { $0.listener.take() }
            listener?.resume()
        }
    }
}

import Synchronization

/// Holds up a call of a loop until a test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastID = 0
        var cancelled: Set<Int> = []
    }
    private let state = Mutex(State())
    /// Whether cancelling the call does not open it.
    let isDeaf: Bool

    init(isDeaf: Bool = false) { self.isDeaf = isDeaf }

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for one in waiting { one.resume() }
    }

    func pass() async {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.isOpen || state.cancelled.remove(id) != nil { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        } onCancel: {
            guard !isDeaf else { return }
            let waiting = state.withLock { state in
                let waiting = state.waiting.removeValue(forKey: id)
                if waiting == nil { state.cancelled.insert(id) }
                return waiting
            }
            waiting?.resume()
        }
    }
}

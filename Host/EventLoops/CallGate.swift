import Synchronization

/// A gate that knows whether a call that was given up and has not returned blocks a plugin's thread. No other call
/// could begin then.
final class CallGate: Sendable {
    private struct State {
        var last = 0
        var givenUp: Set<Int> = []
    }

    private let state = Mutex(State())

    var isHeldUp: Bool { state.withLock { !$0.givenUp.isEmpty } }

    func begin() -> Int {
        state.withLock { state in
            state.last += 1
            return state.last
        }
    }

    func giveUp(_ call: Int) { state.withLock { _ = $0.givenUp.insert(call) } }

    func end(_ call: Int) { state.withLock { _ = $0.givenUp.remove(call) } }
}

import Threads

/// A gate that lets a limited number of requests through at a time. The others wait in the order in which they came.
final class RequestGate: Sendable {
    private let free: Monitor<Int>

    init(width: Int) { free = Monitor(max(1, width)) }

    /// Returns when there is room, and takes this room until `leave()`.
    /// - Throws: `CancellationError` if the task is cancelled. No room is taken then.
    func enter() async throws(CancellationError) {
        try await free.waitUnlessCancelled { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Takes room until `leave()`, if there is some.
    /// - Returns: Whether there was.
    func tryEnter() -> Bool {
        free.change { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Gives the room to the request that has waited longest.
    func leave() { free.change { $0 += 1 } }
}

import Threads

/// Lets a number of requests through at a time; the others wait in the order in which they came.
final class RequestGate: Sendable {
    private let free: Monitor<Int>

    init(width: Int) { free = Monitor(max(1, width)) }

    /// Returns when there is room, which is then taken until `leave()`.
    /// - Throws: `CancellationError`; then no room was taken.
    func enter() async throws(CancellationError) {
        try await free.waitUnlessCancelled { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }

    /// Gives the room to whoever waits longest.
    func leave() { free.change { $0 += 1 } }
}

public import Model
import Synchronization

/// A clock that stands still until a test moves it on.
public final class ManualClock: Sendable {
    private struct Sleeper {
        var deadline: Duration
        var wake: CheckedContinuation<Void, any Error>
    }
    private struct State {
        var now = Duration.zero
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }
    private let state = Mutex(State())

    public init() {}

    public var now: Duration { state.withLock { $0.now } }
    /// When those who sleep want to wake, the earliest first.
    public var deadlines: [Duration] { state.withLock { $0.sleepers.values.map(\.deadline).sorted() } }

    /// Moves on and wakes who is due.
    public func advance(to time: Duration) {
        let due = state.withLock { state in
            state.now = max(state.now, time)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.wake)
        }
        for wake in due { wake.resume() }
    }

    public var host: HostClock {
        HostClock(
            now: { Timestamp(seconds: 1_700_000_000) + self.now }, monotonic: { self.now },
            sleep: { try await self.sleep($0) })
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.sleepers[id] = Sleeper(deadline: state.now + duration, wake: continuation)
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.wake.resume(throwing: CancellationError())
        }
    }
}

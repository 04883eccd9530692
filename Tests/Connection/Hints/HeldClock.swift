import Model
import Synchronization

/// A clock whose sleepers tell how long they want to sleep, and wake when a test says so.
final class HeldClock: Sendable {
    struct Sleep: Sendable {
        var duration: Duration
        fileprivate let id: Int
    }

    enum Event: Sendable {
        case slept(Sleep)
        case cancelled
    }

    private struct State {
        var last = 0
        var now = Duration.zero
        var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    let events: AsyncStream<Event>
    private let tell: AsyncStream<Event>.Continuation
    private let step: Duration

    /// - Parameter step: by how much time moves on whenever somebody looks at the clock.
    init(step: Duration = .zero) {
        (events, tell) = AsyncStream.makeStream()
        self.step = step
    }

    func wake(_ sleep: Sleep) { state.withLock { $0.sleepers.removeValue(forKey: sleep.id) }?.resume() }

    var clock: HostClock {
        HostClock(
            now: { Timestamp(seconds: 1_800_000_000) },
            monotonic: {
                self.state.withLock { state in
                    state.now += self.step
                    return state.now
                }
            }, sleep: { try await self.sleep($0) })
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.contains(id) { return true }
                    state.sleepers[id] = continuation
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                tell.yield(.slept(Sleep(duration: duration, id: id)))
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.resume(throwing: CancellationError())
            tell.yield(.cancelled)
        }
    }
}

extension AsyncStream<HeldClock.Event>.Iterator {
    /// The next sleep that is not longer than this; longer ones go on.
    mutating func sleep(upTo longest: Duration) async -> HeldClock.Sleep? {
        while let event = await next() {
            if case .slept(let sleep) = event, sleep.duration <= longest { return sleep }
        }
        return nil
    }
}

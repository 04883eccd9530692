import Model
import Synchronization

/// A clock on which whoever sleeps wakes at once, at the time that it wanted: nothing waits, and every wait shows. Whoever
/// wants to sleep longer than a single run's patience does not wake; the time passes when the test says so.
final class JumpingClock: Sendable {
    private let time = Mutex(Timestamp(seconds: 1_700_000_000))
    private let naps = Mutex<[Duration]>([])
    private let longest = Mutex(Duration.seconds(10))

    var now: Timestamp { time.withLock { $0 } }
    /// How long was slept, in the order of the calls.
    var slept: [Duration] { naps.withLock { $0 } }

    /// From now on nobody wakes: time passes only when the test says so.
    func stop() { longest.withLock { $0 = .zero } }

    func advance(_ duration: Duration) { time.withLock { $0 = $0 + duration } }

    var host: HostClock {
        HostClock(
            now: { self.now }, monotonic: { self.now - Timestamp(seconds: 0) },
            sleep: { duration in
                // Others first: what can happen without time passing happens before it passes.
                for _ in 0..<100 { await Task.yield() }
                if duration > self.longest.withLock({ $0 }) {
                    // Ends when the task is cancelled.
                    let never = AsyncStream<Void>.makeStream()
                    for await _ in never.stream {}
                    withExtendedLifetime(never.continuation) {}
                }
                try Task.checkCancellation()
                self.naps.withLock { $0.append(duration) }
                self.advance(duration)
            })
    }
}

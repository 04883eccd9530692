/// The clocks of a host, so that tests decide what time it is.
public struct HostClock: Sendable {
    /// The wall clock.
    public var now: @Sendable () -> Timestamp
    /// A clock that never jumps; its zero is arbitrary.
    public var monotonic: @Sendable () -> Duration
    /// Returns after the duration; throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    public init(
        now: @escaping @Sendable () -> Timestamp, monotonic: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.monotonic = monotonic
        self.sleep = sleep
    }

    public static let system: HostClock = {
        let start = ContinuousClock.now
        return HostClock(
            now: { Timestamp.now() }, monotonic: { start.duration(to: .now) },
            sleep: { try await Task.sleep(for: $0) })
    }()
}

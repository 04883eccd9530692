/// What the host takes for the time. Everything reads it through this value, so that tests can bring their own.
///
/// An account's parts are given a clock that is believed: what they write, and others compare with an age, is written by it. The
/// system's own clock is for what is compared with the file system's times or the server's alone.
public struct HostClock: Sendable {
    /// The time of day. Of an account: as far as it is believed; while the system's is not, what was believed last and the time that
    /// has passed since.
    public var now: @Sendable () -> Timestamp
    /// What ages are counted to, such as `now` in a condition, or the end of a claim. It stands still while the system's clock is not
    /// believed, so that nothing grows old.
    public var agesTo: @Sendable () -> Timestamp
    /// A clock that never jumps, and goes on while the machine sleeps; its zero is arbitrary. Waits and time limits are by it.
    public var monotonic: @Sendable () -> Duration
    /// Returns after the duration; throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter agesTo: nil: `now` is always believed.
    public init(
        now: @escaping @Sendable () -> Timestamp, agesTo: (@Sendable () -> Timestamp)? = nil,
        monotonic: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.agesTo = agesTo ?? now
        self.monotonic = monotonic
        self.sleep = sleep
    }

    /// The time of day as it goes on from now, however the clock is set: for waits, which are kept as times.
    public func steady() -> @Sendable () -> Timestamp {
        let (start, began) = (now(), monotonic())
        return { [monotonic] in start + (monotonic() - began) }
    }

    public static let system: HostClock = {
        let start = ContinuousClock.now
        return HostClock(
            now: { Timestamp.now() }, monotonic: { start.duration(to: .now) },
            // The runtime reckons in nanoseconds: a wait that is longer than these reach is cut to a hundred years.
            sleep: { try await Task.sleep(for: min($0, .seconds(3_155_760_000))) })
    }()
}

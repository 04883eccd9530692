import Glibc

/// The host's clock. All code reads the time through this value, so that tests can use a clock of their own.
///
/// The parts of an account get a believed clock: times that they write and that other code compares with an age are
/// taken from it. The system's own clock is only for times that are compared with those of the file system or the
/// server.
public struct HostClock: Sendable {
    /// The time of day. For an account, the time of day as far as it is believed: while the system's clock is not
    /// believed, the last believed time plus the time that has passed since.
    public var now: @Sendable () -> Timestamp
    /// The time to which ages are counted, such as `now` in a condition, or the end of a claim. It stands still while
    /// the system's clock is not believed, so that nothing grows old.
    public var agesTo: @Sendable () -> Timestamp
    /// The time of a clock that never jumps, and that goes on while the machine sleeps. Its zero is arbitrary. Waits
    /// and time limits use this clock.
    public var monotonic: @Sendable () -> Duration
    /// The time of a clock that never jumps, and that stands still while the machine sleeps. The system's counts from
    /// the machine's start (`CLOCK_MONOTONIC`).
    public var awake: @Sendable () -> Duration
    /// Returns after a duration. Throws `CancellationError` when the task is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void

    /// Creates a clock.
    /// - Parameters:
    ///   - agesTo: The time to which ages are counted. Nil means: `now` is always believed.
    ///   - awake: The time while the machine is awake. Nil means: the machine never sleeps.
    public init(
        now: @escaping @Sendable () -> Timestamp, agesTo: (@Sendable () -> Timestamp)? = nil,
        monotonic: @escaping @Sendable () -> Duration, awake: (@Sendable () -> Duration)? = nil,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.agesTo = agesTo ?? now
        self.monotonic = monotonic
        self.awake = awake ?? monotonic
        self.sleep = sleep
    }

    /// Returns the time of day as it advances from now on, however the clock is set. For waits, which are stored as
    /// times.
    public func steady() -> @Sendable () -> Timestamp {
        let (start, began) = (now(), monotonic())
        return { [monotonic] in start + (monotonic() - began) }
    }

    /// Returns after the machine has been awake for a duration.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleepAwake(_ duration: Duration) async throws {
        let end = awake() + duration
        while true {
            let left = end - awake()
            if left <= .zero { return }
            try await sleep(left)
        }
    }

    /// The system's clock.
    public static let system: HostClock = {
        let start = ContinuousClock.now
        return HostClock(
            now: { Timestamp.now() }, monotonic: { start.duration(to: .now) }, awake: { .sinceBoot },
            // The runtime counts nanoseconds. A wait that is too long for them is cut to a hundred years.
            sleep: { try await Task.sleep(for: min($0, .seconds(3_155_760_000))) })
    }()
}

extension Duration {
    /// The time since the machine's start, without that in which it slept.
    fileprivate static var sinceBoot: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

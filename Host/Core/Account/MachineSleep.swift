import Model

/// A check whether the machine slept: of two clocks that never jump, one goes on in sleep and the other stands still.
/// A value without I/O.
struct MachineSleep: Equatable {
    /// The shortest sleep that is noticed. Several shorter ones together are noticed too.
    static let shortest = Duration.seconds(1)

    /// By how much the clock that goes on in sleep was ahead of the other one.
    private var ahead: Duration

    init(monotonic: Duration, awake: Duration) { ahead = monotonic - awake }

    /// Reads the clocks.
    /// - Returns: How long the machine slept since the sleep that was noticed last; nil if it did not.
    mutating func observe(monotonic: Duration, awake: Duration) -> Duration? {
        let slept = monotonic - awake - ahead
        guard slept >= Self.shortest else { return nil }
        ahead += slept
        return slept
    }
}

extension MachineSleep {
    init(_ clock: HostClock) {
        // In this order, time that passes between the two is no sleep later.
        let awake = clock.awake()
        self.init(monotonic: clock.monotonic(), awake: awake)
    }

    mutating func observe(_ clock: HostClock) -> Duration? {
        observe(monotonic: clock.monotonic(), awake: clock.awake())
    }
}

import Model

/// The waits after failures. Each is twice as long as the one before, up to a cap, less a random part so that many
/// clients do not return at the same time.
public struct Backoff: Sendable, Hashable {
    /// The longest wait after the first failure.
    public var first: Duration
    /// The longest wait after any failure, unless the server asks for a longer one.
    public var cap: Duration

    /// Creates the waits from the first one and the cap.
    public init(first: Duration, cap: Duration) {
        self.first = first
        self.cap = cap
    }

    /// Returns the wait after a number of failures in a row.
    /// - Parameters:
    ///   - failures: The number of failures, 1 after the first.
    ///   - retryAfter: The wait that the server asked for. The result is never shorter, and this wait is not capped.
    ///   - generator: The source of the random part, which is up to one half.
    public func delay(
        afterFailures failures: Int, retryAfter: Duration? = nil, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        var longest = min(first, cap)
        for _ in 1..<max(1, failures) where longest < cap { longest = min(longest * 2, cap) }
        let delay = longest * Double.random(in: 0.5...1, using: &generator)
        return max(delay, retryAfter ?? .zero)
    }

    /// Returns the wait after a number of failures, with the random part from the system's generator.
    public func delay(afterFailures failures: Int, retryAfter: Duration? = nil) -> Duration {
        var generator = HostRandom()
        return delay(afterFailures: failures, retryAfter: retryAfter, using: &generator)
    }
}

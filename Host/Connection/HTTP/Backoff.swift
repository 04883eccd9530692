import Model

/// How long to wait after failures: each time twice as long up to a cap, less a random part so that many clients do not come back at once.
public struct Backoff: Sendable, Hashable {
    /// The longest wait after the first failure.
    public var first: Duration
    public var cap: Duration

    public init(first: Duration, cap: Duration) {
        self.first = first
        self.cap = cap
    }

    /// The wait after a number of failures in a row.
    /// - Parameters:
    ///   - failures: 1 for the first.
    ///   - retryAfter: what the server asked for; it is never undercut, and is not capped.
    ///   - generator: the source of the random part, up to one half.
    public func delay(
        afterFailures failures: Int, retryAfter: Duration? = nil, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        var longest = min(first, cap)
        for _ in 1..<max(1, failures) where longest < cap { longest = min(longest * 2, cap) }
        let delay = longest * Double.random(in: 0.5...1, using: &generator)
        return max(delay, retryAfter ?? .zero)
    }

    /// Draws the random part from the system's generator.
    public func delay(afterFailures failures: Int, retryAfter: Duration? = nil) -> Duration {
        var generator = HostRandom()
        return delay(afterFailures: failures, retryAfter: retryAfter, using: &generator)
    }
}

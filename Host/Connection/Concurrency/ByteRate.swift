/// The bytes that the transfers of large files move in a second, and what follows for their number. A value without I/O.
///
/// A further half of transfers is tried. It stays if all together become noticeably faster, and goes again if not.
struct ByteRate: Sendable {
    private struct Trial: Sendable {
        var limit: Int
        var rate: Double
    }

    /// The beginning of the measurement under way; nil if none is.
    private var began: Duration?
    private var bytes = 0.0
    /// What was before the number that is being tried; nil if none is.
    private var before: Trial?
    /// The time before which nothing is tried.
    private var restsUntil = Duration.zero

    /// The time for which a rate is measured.
    static let period = Duration.seconds(2)
    /// The time before a measurement, in which new connections gather speed.
    static let start = Duration.seconds(1)
    /// The time for which nothing further is tried after a trial that did not help.
    static let rest = Duration.seconds(60)
    /// How many times as fast all must become together.
    private static let gain = 1.1

    /// Takes bytes that were transferred.
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - limit: The number of transfers that may be under way.
    ///   - isFull: Whether as many are.
    ///   - most: The greatest number that may be chosen.
    /// - Returns: The number of transfers that may be under way from now on.
    mutating func transferred(_ count: Int, at limit: Int, isFull: Bool, most: Int, now: Duration) -> Int {
        guard isFull, now >= restsUntil else {
            // With fewer transfers the rate says nothing about their number.
            if !isFull { began = nil }
            return limit
        }
        guard let began else {
            (self.began, bytes) = (now + (before == nil ? .zero : Self.start), 0)
            return limit
        }
        guard now >= began else { return limit }
        bytes += Double(count)
        let time = now - began
        guard time >= Self.period else { return limit }
        let rate = bytes / (time / .seconds(1))
        self.began = nil
        if let before, rate < before.rate * Self.gain {
            self.before = nil
            restsUntil = now + Self.rest
            return before.limit
        }
        let next = min(most, limit + max(1, limit / 2))
        before = next > limit ? Trial(limit: limit, rate: rate) : nil
        if next == limit { restsUntil = now + Self.rest }
        return next
    }
}

import Glibc

/// The times after which answers begin, and what follows for the number of requests under way. A value without I/O.
///
/// The time when few requests are under way is measured first, and again from time to time. Then the number grows by one
/// with each answer, until answers take noticeably longer. From there on it follows the times, a round of answers after
/// the other. The geometric mean of a round counts, so that a single long answer decides nothing.
struct AnswerTimes: Sendable {
    private enum Phase: Sendable {
        /// Few are under way, to learn how long an answer takes then.
        /// - Parameter before: The number to go on with, and the logarithm of the time of an answer with it; nil if no
        ///   number is known yet.
        case measuring(before: (limit: Int, mean: Double)?)
        /// The number grows with each answer.
        case growing
        /// The number follows the times.
        case following
    }

    private var phase = Phase.measuring(before: nil)
    /// The logarithm of the time of an answer when few requests are under way, in seconds.
    private var alone: Double?
    /// The time until which ``alone`` is believed.
    private var believedUntil = Duration.zero
    private var sum = 0.0
    private var count = 0
    /// Whether the last answer was the last one of a round.
    private(set) var hasJudged = false

    /// Differences below are those of this machine rather than of the server and the way to it.
    private static let shortest = 0.001
    /// The time for which it is believed how long an answer takes when few requests are under way.
    static let validity = Duration.seconds(30)
    /// The same for the first measurement, which is short so that the number soon grows.
    static let firstValidity = Duration.seconds(2)

    // How many times as long an answer may take as when few are under way:
    /// - Up to here the number grows, a step after each round.
    private static let free = log(1.25)
    /// - From here on the number does not grow with each answer any more. When it is adapted, this is the aim.
    private static let busy = log(1.4)
    /// - From here on the number becomes smaller.
    private static let crowded = log(1.6)

    /// Whether the number grows with each answer.
    var isGrowing: Bool { if case .growing = phase { true } else { false } }

    /// Takes the time of an answer.
    /// - Parameters:
    ///   - time: The time since the request was sent.
    ///   - limit: The number of requests that may be under way.
    ///   - isFull: Whether as many were.
    ///   - most: The greatest number that may be chosen.
    /// - Returns: The number of requests that may be under way from now on.
    mutating func answered(
        after time: Duration, at limit: Int, isFull: Bool, most: Int, now: Duration
    ) -> Int {
        let time = log(max(Self.shortest, time / .seconds(1)))
        sum += time
        count += 1
        hasJudged = false
        switch phase {
        case .measuring(let before):
            guard count >= (before == nil ? Concurrency.least : 4 * Concurrency.least) else { return limit }
            let alone = takeMean()
            (self.alone, believedUntil) = (alone, now + (before == nil ? Self.firstValidity : Self.validity))
            let isFree = before.map { $0.mean - alone < Self.free } ?? true
            phase = isFree ? .growing : .following
            return before?.limit ?? limit
        case .growing:
            // What a greater number has brought about shows in later answers only.
            let isQuick = time - (alone ?? time) <= Self.busy
            let next = isFull && isQuick ? min(limit + 1, most) : limit
            guard count >= 2 * Concurrency.least else { return next }
            let excess = judge()
            if excess > Self.busy || limit >= most { phase = .following }
            return excess > Self.busy ? min(limit, Self.adapted(limit, excess)) : next
        case .following:
            guard count >= max(4 * Concurrency.least, limit) else { return limit }
            let excess = judge()
            if excess < Self.free { return isFull ? min(limit + max(1, limit / 8), most) : limit }
            if excess > Self.crowded, limit > Concurrency.least {
                return min(limit - 1, Self.adapted(limit, excess))
            }
            guard excess > Self.crowded || now >= believedUntil else { return limit }
            let mean = (alone ?? 0) + excess
            guard limit <= Concurrency.least else {
                phase = .measuring(before: (limit, mean))
                return Concurrency.least
            }
            // Few are under way, and this is what answers take by now.
            (alone, believedUntil, phase) = (mean, now + Self.validity, .growing)
            return limit
        }
    }

    /// Notes that the server refused a request. The number grows by small steps from then on.
    mutating func wasRefused() {
        (sum, count) = (0, 0)
        if alone != nil { phase = .following }
    }

    /// Ends a round.
    /// - Returns: The logarithm of how many times as long answers took as when few are under way.
    private mutating func judge() -> Double {
        let mean = takeMean()
        let before = alone ?? mean
        // What is measured with few requests may have been slow by chance. A faster mean is approached, since it may be
        // chance too.
        alone = mean < before ? before + (mean - before) / 4 : before
        return mean - before
    }

    private mutating func takeMean() -> Double {
        defer { (sum, count, hasJudged) = (0, 0, true) }
        return sum / Double(count)
    }

    /// Returns the number with which answers would take as long as they may, if they wait for the server's capacity.
    private static func adapted(_ limit: Int, _ excess: Double) -> Int {
        max(Concurrency.least, Int((Double(limit) * exp(busy - excess)).rounded()))
    }
}

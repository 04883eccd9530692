/// The number of requests of one kind that may be under way at a time, learned from what the server does. A value
/// without I/O and without a clock.
///
/// Behind a long way nothing counts as much as how many requests are under way. Before a slow server more of them only
/// wait there. So the number grows as long as answers do not take longer for it, and becomes smaller when they do. It
/// becomes half as large when the server refuses a request for lack of capacity.
///
///     var concurrency = Concurrency(.answerTimes(AnswerTimes()), most: 64)
///     concurrency.began(underWay: 4)
///     concurrency.answered(after: .milliseconds(20), underWay: 4, now: .uptime)
struct Concurrency: Sendable {
    /// The measure by which the number is found.
    enum Measure: Sendable {
        /// The times after which answers begin, for requests that are all of about the same size.
        case answerTimes(AnswerTimes)
        /// The bytes that all of them together transfer in a second, for large files.
        case byteRate(ByteRate)
    }

    /// The number with which everything begins, and below which only refusals lead.
    static let least = 4
    /// The number up to which everything has room.
    static let modest = 8
    /// The time for which the number that a refusal has left is not exceeded. It doubles with each further refusal.
    static let shortestCeiling = Duration.seconds(60)
    static let longestCeiling = Duration.seconds(1_800)

    /// The number of requests that may be under way.
    private(set) var limit: Int
    private let most: Int
    private var measure: Measure
    /// Whether as many as may be were under way since the number was judged last. Otherwise it was not the number that
    /// kept requests waiting.
    private var isFull = false
    /// The number of requests still under way that began under another limit.
    private var stale = 0
    /// The number of requests still under way that were so when the server refused one.
    private var pardoned = 0
    /// The number that a refusal has left, the time until which it is not exceeded, and the number that was refused.
    private var ceiling: (limit: Int, until: Duration, refused: Int)?
    private var nextCeiling = Self.shortestCeiling

    /// - Parameter most: The upper bound, at least 1.
    init(_ measure: Measure, most: Int) {
        (self.measure, self.most) = (measure, max(1, most))
        limit = min(Self.least, self.most)
    }

    /// Notes that a request began.
    /// - Parameter underWay: The number of requests under way with it.
    mutating func began(underWay: Int) { if underWay >= limit { isFull = true } }

    /// Notes an answer.
    /// - Parameters:
    ///   - time: The time that it took; see ``RequestGate/Sign/answered(head:body:)``.
    ///   - underWay: The number of requests under way, with the answered one.
    ///   - hasRoom: Whether the process has room for more connections.
    mutating func answered(after time: Duration, underWay: Int, now: Duration, hasRoom: Bool = true) {
        guard stale == 0, case .answerTimes(var times) = measure else { return }
        let next = times.answered(after: time, at: limit, isFull: isFull, most: bound(now, hasRoom), now: now)
        if times.hasJudged { isFull = false }
        measure = .answerTimes(times)
        change(to: next, underWay, now, isGradual: times.isGrowing)
    }

    /// Notes bytes of a transfer.
    mutating func transferred(_ bytes: Int, underWay: Int, now: Duration, hasRoom: Bool = true) {
        guard case .byteRate(var rate) = measure else { return }
        let next = rate.transferred(bytes, at: limit, isFull: underWay >= limit, most: bound(now, hasRoom), now: now)
        measure = .byteRate(rate)
        change(to: next, underWay, now, isGradual: false)
    }

    /// Notes that the server refused a request for lack of capacity, or gave no answer. Of all that were under way
    /// together, one counts. Where no other one was under way, their number was not the reason.
    /// - Parameter underWay: The number of requests under way, with the refused one.
    mutating func refused(underWay: Int, now: Duration) {
        guard pardoned == 0, underWay > 1 else { return }
        // Of a great number that few requests have used, the refusal says nothing but that it is too great.
        let left = underWay < limit / 2 ? limit / 2 : max(1, min(limit, underWay) / 2)
        // What has gone well for that long is another matter.
        if let ceiling, now > ceiling.until + nextCeiling { nextCeiling = Self.shortestCeiling }
        ceiling = (left, now + nextCeiling, limit)
        nextCeiling = min(nextCeiling * 2, Self.longestCeiling)
        switch measure {
        case .answerTimes(var times):
            times.wasRefused()
            measure = .answerTimes(times)
        case .byteRate: measure = .byteRate(ByteRate())
        }
        (limit, isFull, stale, pardoned) = (left, false, underWay, underWay)
    }

    /// Notes that a request has ended, after what it told was noted.
    mutating func ended() { (stale, pardoned) = (max(0, stale - 1), max(0, pardoned - 1)) }

    private func bound(_ now: Duration, _ hasRoom: Bool) -> Int {
        let most = hasRoom ? most : min(most, max(limit, Self.modest))
        guard let ceiling, now < ceiling.until else { return most }
        return min(most, ceiling.limit)
    }

    /// - Parameter isGradual: Whether the number grows with each answer, so that each one counts.
    private mutating func change(to next: Int, _ underWay: Int, _ now: Duration, isGradual: Bool) {
        let next = max(1, next)
        guard next != limit else { return }
        limit = next
        // The server takes more than it did when it refused.
        if let ceiling, next > ceiling.refused { (self.ceiling, nextCeiling) = (nil, Self.shortestCeiling) }
        if !isGradual { (isFull, stale) = (false, underWay) }
    }
}

import Database
import LocalTree
import Model
import Vault

/// A check whether the wall clock can be believed. Removals for age, such as of expired copies, depend on the wall
/// clock; a machine that starts with its clock in 2038 or in 1970 must not lose anything for that.
struct ClockSanity: Equatable {
    /// The readings of the clocks when the wall clock was last believed.
    struct Reading: Equatable {
        var wall: Timestamp
        /// The monotonic clock's reading; nil if an earlier process, whose monotonic clock is a different one, made the
        /// reading.
        var monotonic: Duration?
    }

    /// The longest step back that is believed, as a correction of the clock.
    static let longestStepBack = Duration.seconds(10)
    /// The longest step ahead that is believed, as an absence for a holiday.
    static let longestAbsence = Duration.seconds(30 * 24 * 3600)
    /// The largest difference between the server's clock and this clock at which the server's clock confirms this
    /// clock.
    static let agreement = Duration.seconds(3600)

    private(set) var last: Reading?
    private(set) var isSane = true
    /// The monotonic clock's reading when this value was created.
    private let began: Duration
    /// The time that passed in earlier processes after the wall clock was last believed.
    private let passedBefore: Duration

    init(last: Reading?, began: Duration = .zero, passedBefore: Duration = .zero) {
        self.last = last
        self.began = began
        self.passedBefore = passedBefore
    }

    /// Checks the clocks.
    /// - Parameters:
    ///   - now: The wall clock's reading.
    ///   - monotonic: The monotonic clock's reading.
    ///   - ahead: The time by which this clock is ahead of the server's, by an answer received since the last check;
    ///     nil if there was none.
    mutating func observe(now: Timestamp, monotonic: Duration, aheadOfServer ahead: Duration?) {
        isSane = ahead.map { abs($0) <= Self.agreement } == true || isPlausible(now, monotonic)
        if isSane { last = Reading(wall: now, monotonic: monotonic) }
    }

    /// Returns the time that is believed. While the clock is not believed, that is the last believed time plus the time
    /// that has passed since. A step of the clock is noticed at once, not with the next check.
    func believed(_ now: Timestamp, _ monotonic: Duration) -> Timestamp {
        guard let last, !isBelieved(now, monotonic) else { return now }
        return last.wall + passed(since: last, monotonic)
    }

    /// Returns the time that has passed since the wall clock was last believed, as far as a process measured it. The
    /// next process goes on from there, so that what it begins is later than what was used before. Nil while the wall
    /// clock is believed.
    func passedUnbelieved(_ now: Timestamp, _ monotonic: Duration) -> Duration? {
        guard let last, !isBelieved(now, monotonic) else { return nil }
        return passed(since: last, monotonic)
    }

    private func passed(since last: Reading, _ monotonic: Duration) -> Duration {
        if let reading = last.monotonic { return max(.zero, monotonic - reading) }
        return passedBefore + max(.zero, monotonic - began)
    }

    /// Returns the time to which ages are counted. While the clock is not believed, that is the last believed time, so
    /// that nothing ages.
    func agesTo(_ now: Timestamp, _ monotonic: Duration) -> Timestamp {
        guard let last, !isBelieved(now, monotonic) else { return now }
        return last.wall
    }

    private func isBelieved(_ now: Timestamp, _ monotonic: Duration) -> Bool { isSane && isPlausible(now, monotonic) }

    private func isPlausible(_ now: Timestamp, _ monotonic: Duration) -> Bool {
        guard let last else { return true }
        let passed = now - last.wall
        if passed < .zero - Self.longestStepBack { return false }
        if passed <= Self.longestAbsence { return true }
        // The elapsed times agree if the host was running all the time.
        return last.monotonic.map { abs(monotonic - $0 - passed) <= Self.agreement } ?? false
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }

extension MetaKey {
    /// The last believed reading of the wall clock, in nanoseconds since 1970.
    static let lastClock = MetaKey("lastClock")
    /// The time that passed after ``lastClock`` while the wall clock was not believed, in nanoseconds.
    static let clockPassed = MetaKey("clockPassed")
}

extension HostClock {
    /// Returns a clock for the account's parts, based on this system clock and on the decision whether it is believed.
    func believed(by sanity: @escaping @Sendable () -> ClockSanity) -> HostClock {
        HostClock(
            now: { [now, monotonic] in sanity().believed(now(), monotonic()) },
            agesTo: { [now, monotonic] in sanity().agesTo(now(), monotonic()) }, monotonic: monotonic, awake: awake,
            sleep: sleep)
    }
}

extension ClockSanity {
    /// Restores the state from the last time that a host recorded.
    init(_ reads: some DatabaseReads, clock: HostClock) throws {
        let last = try reads.meta.integer(.lastClock).map { Reading(wall: Timestamp(nanoseconds: $0), monotonic: nil) }
        let passed = max(0, try reads.meta.integer(.clockPassed) ?? 0)
        self.init(last: last, began: clock.monotonic(), passedBefore: .nanoseconds(passed))
    }
}

import Database
import LocalTree
import Model
import Vault

/// Whether the wall clock can be believed. What goes for its age, such as an expired copy, goes by it: a machine that starts in 2038,
/// or in 1970, must lose nothing for that.
struct ClockSanity: Equatable {
    /// What the clocks said when they were believed last.
    struct Reading: Equatable {
        var wall: Timestamp
        /// Nil: in an earlier process, whose monotonic clock is another.
        var monotonic: Duration?
    }

    /// Back by more than a correction, or ahead by more than a holiday, is not believed.
    static let longestStepBack = Duration.seconds(10)
    static let longestAbsence = Duration.seconds(30 * 24 * 3600)
    /// How far the server's clock may be off to confirm this one.
    static let agreement = Duration.seconds(3600)

    private(set) var last: Reading?
    private(set) var isSane = true
    /// The monotonic clock when this began.
    private let began: Duration

    init(last: Reading?, began: Duration = .zero) {
        self.last = last
        self.began = began
    }

    /// Looks at the clocks.
    /// - Parameter ahead: By how much this clock is ahead of the server's, which was asked since the last look; nil: it was not.
    mutating func observe(now: Timestamp, monotonic: Duration, aheadOfServer ahead: Duration?) {
        isSane = ahead.map { abs($0) <= Self.agreement } == true || isPlausible(now, monotonic)
        if isSane { last = Reading(wall: now, monotonic: monotonic) }
    }

    /// What is taken for the time: while the clock is not believed, the last one that was and what has passed since. A step shows at
    /// once, not with the next look.
    func believed(_ now: Timestamp, _ monotonic: Duration) -> Timestamp {
        guard let last, !isBelieved(now, monotonic) else { return now }
        return last.wall + max(.zero, monotonic - (last.monotonic ?? began))
    }

    /// What ages are counted to: while the clock is not believed, the last one that was, so that nothing grows old.
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
        // The host was running all the time.
        return last.monotonic.map { abs(monotonic - $0 - passed) <= Self.agreement } ?? false
    }
}

private func abs(_ duration: Duration) -> Duration { duration < .zero ? .zero - duration : duration }

extension MetaKey {
    /// The wall clock when it was believed last, nanoseconds since 1970.
    static let lastClock = MetaKey("lastClock")
}

extension HostClock {
    /// The clock of an account's parts, over the system's.
    func believed(by sanity: @escaping @Sendable () -> ClockSanity) -> HostClock {
        HostClock(
            now: { [now, monotonic] in sanity().believed(now(), monotonic()) },
            agesTo: { [now, monotonic] in sanity().agesTo(now(), monotonic()) }, monotonic: monotonic, sleep: sleep)
    }
}

extension ClockSanity {
    /// As a host recorded it last.
    init(_ reads: some DatabaseReads, clock: HostClock) throws {
        let last = try reads.meta.integer(.lastClock).map { Reading(wall: Timestamp(nanoseconds: $0), monotonic: nil) }
        self.init(last: last, began: clock.monotonic())
    }
}

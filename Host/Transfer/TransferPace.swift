/// The pace below which a transfer is given up (C12).
package struct LeastPace: Sendable, Hashable {
    /// The number of bytes that must arrive per second.
    package var bytesPerSecond: Int64
    /// The time over which the pace is measured.
    package var period: Duration

    package init(bytesPerSecond: Int64, period: Duration) {
        (self.bytesPerSecond, self.period) = (bytesPerSecond, period)
    }
}

/// The pace at which an answer arrives. A value without I/O.
///
/// Only the time in which the reader waits for the network counts. A reader that is busy with the disk, or that does
/// not read on purpose, makes no transfer slow. All times are those of one monotonic clock, whose zero is arbitrary.
package struct TransferPace: Sendable {
    /// A part of the waiting time, and the bytes that arrived meanwhile.
    private struct Step {
        var bytes: Int64 = 0
        var waited = Duration.zero
    }

    package let least: LeastPace
    /// The complete steps of the last period, the oldest first.
    private var steps: [Step] = []
    /// The step that is not complete yet.
    private var open = Step()
    /// The waiting time since the last tick.
    private var waited = Duration.zero
    private var waitsSince: Duration?

    /// The number of steps in a period.
    private static let stepsInPeriod = 12

    /// Creates the pace of an answer whose head has just arrived.
    package init(_ least: LeastPace) { self.least = least }

    /// The time between two calls of ``tick(at:)``.
    package static func interval(of least: LeastPace) -> Duration { least.period / stepsInPeriod }

    /// Notes bytes that have arrived.
    package mutating func arrived(_ bytes: Int) { open.bytes += Int64(bytes) }

    /// Notes that the reader waits for the network from now on.
    package mutating func beginWaiting(at now: Duration) { waitsSince = now }

    /// Notes that the reader no longer waits for the network.
    package mutating func endWaiting(at now: Duration) {
        guard let since = waitsSince.take() else { return }
        waited += max(.zero, now - since)
    }

    /// Notes that an interval has passed.
    ///
    /// A late call means that the thread was held up, which says nothing about the network. So no call counts more than
    /// one interval.
    /// - Returns: The bytes per second over the last period, if they are fewer than the least number; otherwise nil.
    package mutating func tick(at now: Duration) -> Int64? {
        let interval = Self.interval(of: least)
        if waitsSince != nil {
            endWaiting(at: now)
            beginWaiting(at: now)
        }
        open.waited += min(waited, interval)
        waited = .zero
        guard open.waited >= interval else { return nil }
        steps.append(open)
        open = Step()
        var total = steps.reduce(.zero) { $0 + $1.waited }
        while let first = steps.first, total - first.waited >= least.period {
            total -= first.waited
            steps.removeFirst()
        }
        guard total >= least.period else { return nil }
        let bytes = steps.reduce(0) { $0 + $1.bytes }
        let rate = Int64(Double(bytes) / (total / .seconds(1)))
        return rate < least.bytesPerSecond ? rate : nil
    }
}

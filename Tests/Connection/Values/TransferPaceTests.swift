import Model
import Testing
import Transfer

@testable import Connection

struct TransferPaceTests {
    private static let least = LeastPace(bytesPerSecond: 1000, period: .seconds(60))
    private static let interval = TransferPace.interval(of: least)

    /// Lets the ticks of `seconds` pass while the reader waits, with so many bytes before each tick.
    /// - Returns: The rate at the tick that ends the transfer, and the time until then.
    private func pass(
        _ pace: inout TransferPace, _ now: inout Duration, seconds: Int, bytesPerSecond: Int
    ) -> (rate: Int64, after: Duration)? {
        let began = now
        while now < began + .seconds(seconds) {
            pace.beginWaiting(at: now)
            now += Self.interval
            pace.arrived(bytesPerSecond * Int(Self.interval / .seconds(1)))
            if let rate = pace.tick(at: now) { return (rate, now - began) }
            pace.endWaiting(at: now)
        }
        return nil
    }

    @Test("C12: a transfer that is silent, or below the limit for the whole period, is too slow, and not before")
    func slow() {
        for rate in [0, 999] {
            var (pace, now) = (TransferPace(Self.least), Duration.seconds(77))
            let slow = pass(&pace, &now, seconds: 600, bytesPerSecond: rate)
            #expect(slow?.rate == Int64(rate) && slow?.after == .seconds(60))
        }
        var (pace, now) = (TransferPace(Self.least), Duration.zero)
        #expect(pass(&pace, &now, seconds: 6000, bytesPerSecond: 1000) == nil)
    }

    @Test("C12: only the last period counts: a fast beginning saves no slow end, and a short pause ends nothing")
    func period() {
        var (pace, now) = (TransferPace(Self.least), Duration.zero)
        #expect(pass(&pace, &now, seconds: 300, bytesPerSecond: 1_000_000) == nil)
        #expect(pass(&pace, &now, seconds: 55, bytesPerSecond: 0) == nil)
        #expect(pass(&pace, &now, seconds: 5, bytesPerSecond: 20_000) == nil)
        let slow = pass(&pace, &now, seconds: 600, bytesPerSecond: 10)
        #expect(slow?.after == .seconds(60))
        #expect(slow?.rate == 10)
    }

    @Test("C12: time in which the reader does not wait for the network does not count, however little arrives")
    func busyReader() {
        var (pace, now) = (TransferPace(Self.least), Duration.zero)
        // In each interval the reader writes to the disk for all but a moment.
        for _ in 0..<1_000 {
            pace.beginWaiting(at: now)
            now += .milliseconds(1)
            pace.endWaiting(at: now)
            now += Self.interval - .milliseconds(1)
            #expect(pace.tick(at: now) == nil)
        }
        // A reader that has paused for a day is no slower than before.
        now += .seconds(86_400)
        #expect(pace.tick(at: now) == nil)
        #expect(pass(&pace, &now, seconds: 50, bytesPerSecond: 0) == nil)
        #expect(pass(&pace, &now, seconds: 10, bytesPerSecond: 0) != nil)
    }

    @Test("C12: a thread that is held up while the reader waits counts one interval")
    func lateTicks() {
        var (pace, now) = (TransferPace(Self.least), Duration.zero)
        pace.beginWaiting(at: now)
        for _ in 0..<11 {
            now += .seconds(3600)
            #expect(pace.tick(at: now) == nil)
        }
        now += .seconds(3600)
        #expect(pace.tick(at: now) == 0)
    }
}

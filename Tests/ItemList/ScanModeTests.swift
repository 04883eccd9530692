import Model
import Testing

@testable import ItemList

@Suite("How a scan finds what changed")
struct ScanModeTests {
    private let now = Timestamp(seconds: 10_000_000)

    private func trust(_ wrong: Bool) -> ETagTrust {
        var trust = ETagTrust()
        if wrong { trust.walked(ETagTrust.Evidence(contradicts: true), begun: now) }
        return trust
    }

    private func mode(
        ownCloud: Bool = true, wrong: Bool = false, walked: Duration? = .seconds(3600),
        scanned: Duration? = .seconds(10)
    ) -> ScanMode {
        let history = ScanMode.History(
            etags: trust(wrong), lastWholeWalk: walked.map { now - $0 }, lastScan: scanned.map { now - $0 })
        return ScanMode.next(isOwnCloudFamily: ownCloud, history: history, now: now)
    }

    @Test("I3: ETags are believed on servers of the ownCloud family, unless they were wrong")
    func trust() {
        #expect(mode() == .byETags)
        #expect(mode(ownCloud: false) == .whole)
        #expect(mode(wrong: true) == .whole)
        #expect(mode(walked: nil, scanned: nil) == .whole)
    }

    @Test("I3: even then everything is walked once a day, after a week's absence, and when the clock went back")
    func verification() {
        #expect(mode(walked: .seconds(24 * 3600 - 1)) == .byETags)
        #expect(mode(walked: .seconds(24 * 3600)) == .whole)
        #expect(mode(walked: .seconds(3600), scanned: .seconds(7 * 24 * 3600)) == .whole)
        #expect(mode(walked: .seconds(-60)) == .whole)
    }

    @Test("I12, I15: a walk that was cut off goes on for a day: by ETags where they are believed, else with the rest")
    func openWalk() {
        func mode(
            _ began: Duration?, wrong: Bool = false, ownCloud: Bool = true, walked: Duration? = nil
        ) -> ScanMode {
            let history = ScanMode.History(
                etags: trust(wrong), lastWholeWalk: walked.map { now - $0 }, openWalk: began.map { now - $0 },
                lastScan: walked.map { now - $0 })
            return ScanMode.next(isOwnCloudFamily: ownCloud, history: history, now: now)
        }
        #expect(mode(nil) == .whole)
        #expect(mode(.seconds(60)) == .byETags && mode(.seconds(24 * 3600 - 1)) == .byETags)
        #expect(mode(.seconds(24 * 3600)) == .whole && mode(.seconds(-60)) == .whole)
        #expect(mode(.seconds(60), wrong: true) == .rest && mode(.seconds(60), ownCloud: false) == .rest)
        #expect(mode(.seconds(24 * 3600), ownCloud: false) == .whole)
        // An open walk that is due to the daily verification continues by ETags too.
        #expect(mode(.seconds(60), walked: .seconds(25 * 3600)) == .byETags)
    }

    @Test("I4: the config's interval, else the server's wish above 5 s, else 10 s")
    func interval() {
        #expect(PollInterval.next(configured: .seconds(30), serverWish: .seconds(60)) == .seconds(30))
        #expect(PollInterval.next(configured: .milliseconds(10), serverWish: nil) == .seconds(1))
        #expect(PollInterval.next(configured: nil, serverWish: .seconds(60)) == .seconds(60))
        #expect(PollInterval.next(configured: nil, serverWish: .seconds(5)) == .seconds(10))
        #expect(PollInterval.next(configured: nil, serverWish: nil) == .seconds(10))
    }
}

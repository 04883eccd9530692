import Model
import Testing

@testable import ItemList

@Suite struct ETagTrustTests {
    private let start = Timestamp(seconds: 10_000_000)

    private func time(_ day: Int) -> Timestamp { start + .seconds(day * 24 * 3600) }

    /// Walks over everything once a day, from one day to another.
    private func walk(_ trust: inout ETagTrust, _ days: ClosedRange<Int>, tells: Bool = true) {
        for day in days { trust.walked(ETagTrust.Evidence(tells: tells), begun: time(day)) }
    }

    private var wrong: ETagTrust.Evidence { ETagTrust.Evidence(contradicts: true) }

    @Test("I3: ETags that were wrong are believed after seven days, then after thirty, then never")
    func trials() {
        var trust = ETagTrust()
        walk(&trust, 0...100)
        #expect(trust.areBelieved && trust.daysLeft == nil)
        trust.walked(wrong, begun: time(100))
        #expect(!trust.areBelieved && trust.daysLeft == 7)
        walk(&trust, 101...106)
        #expect(!trust.areBelieved && trust.daysLeft == 1)
        walk(&trust, 107...107)
        #expect(trust.areBelieved && trust.losses == 1)
        trust.walked(wrong, begun: time(200))
        walk(&trust, 201...229)
        #expect(!trust.areBelieved && trust.daysLeft == 1)
        walk(&trust, 230...230)
        #expect(trust.areBelieved && trust.losses == 2)
        trust.walked(wrong, begun: time(300))
        #expect(trust.daysLeft == nil)
        walk(&trust, 301...1000)
        #expect(!trust.areBelieved)
    }

    @Test("I3: they must have told of a change below a folder, and of every change since the last that they did not")
    func conditions() {
        var trust = ETagTrust()
        trust.walked(wrong, begun: time(0))
        walk(&trust, 1...50, tells: false)
        #expect(!trust.areBelieved && trust.daysLeft == 1)
        var told = trust
        told.walked(ETagTrust.Evidence(tells: true), begun: time(51))
        #expect(told.areBelieved)
        // Another contradiction begins the trial anew, and is no further loss.
        trust.walked(ETagTrust.Evidence(contradicts: true, tells: true), begun: time(51))
        #expect(trust.daysLeft == 7 && trust.losses == 1)
        walk(&trust, 52...58, tells: false)
        #expect(!trust.areBelieved)
    }

    @Test("I3: many walks within a day are one day, a pause is none, and a clock that goes back begins a day anew")
    func days() {
        var trust = ETagTrust()
        trust.walked(wrong, begun: start)
        for second in stride(from: 10, to: 24 * 3600, by: 600) {
            trust.walked(ETagTrust.Evidence(tells: true), begun: start + .seconds(second))
        }
        #expect(trust.daysLeft == 7)
        walk(&trust, 400...400)
        #expect(trust.daysLeft == 6)
        walk(&trust, 300...300)
        #expect(trust.daysLeft == 6)
        walk(&trust, 301...306)
        #expect(trust.areBelieved)
    }
}

import Model
import Testing

@testable import LocalTree

struct RecentUsesTests {
    private let a = ItemPath(unchecked: "/a")
    private let b = ItemPath(unchecked: "/b")
    private func time(_ seconds: Int64) -> Timestamp { Timestamp(seconds: seconds) }

    @Test("P37: uses of many files are told together, with the latest time of each")
    func together() {
        var uses = RecentUses()
        uses.note(a, time(100), now: .seconds(0))
        uses.note(b, time(100), now: .milliseconds(400))
        uses.note(a, time(101), now: .milliseconds(900))
        #expect(uses.next == RecentUses.gathering && uses.take(now: .milliseconds(900)).isEmpty)
        #expect(uses.untold(a) == time(101))
        #expect(uses.take(now: .milliseconds(1_400)) == [a: time(101), b: time(100)])
        #expect(uses.next == nil && uses.untold(a) == nil)
    }

    @Test("P37: what follows within five seconds of what was told is told once they are over, and nothing is lost")
    func merged() {
        var uses = RecentUses()
        uses.note(a, time(100), now: .seconds(0))
        _ = uses.take(now: .seconds(1))
        uses.note(a, time(102), now: .seconds(2))
        uses.note(a, time(103), now: .seconds(3))
        #expect(uses.take(now: .seconds(5)).isEmpty && uses.next == .seconds(6))
        #expect(uses.take(now: .seconds(6)) == [a: time(103)])
        // A much later use counts as a new use and is reported as soon as the first.
        #expect(uses.take(now: .seconds(60)).isEmpty && !uses.has(a))
        uses.note(a, time(160), now: .seconds(60))
        #expect(uses.next == .seconds(61))
    }
}

import Connection
import Model
import Testing

@testable import ItemList

@Suite("When everything is walked, and what is listed in between")
struct WalkPlanTests {
    private let start = Timestamp(seconds: 10_000_000)
    private let hour = Duration.seconds(3600)
    private let never = ScanMode.History()

    private func outcome(
        _ failed: ItemPath..., retryAfter: Duration? = nil, cutOff: Bool = false
    )
        -> ItemListUpdate.Outcome
    {
        var outcome = ItemListUpdate.Outcome()
        (outcome.isComplete, outcome.isCutOff) = (failed.isEmpty && !cutOff, cutOff)
        let error = ConnectionError(.serverError, "it failed", status: 500, retryAfter: retryAfter)
        for path in failed { outcome.failed[path] = error }
        return outcome
    }

    @Test("I15: a folder that always fails is asked for alone, after pauses that grow; all is walked in its time")
    func alone() {
        let b = ItemPath(unchecked: "/b")
        var plan = WalkPlan(interval: hour)
        #expect(plan.mode(isFamily: false, never, time: start, at: .zero) == .whole)
        var now = Duration.zero
        plan.ended(.whole, outcome(b), walkBegan: nil, time: start, at: now)
        for pause in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] {
            let planned = plan.pause(at: now)
            #expect(planned == .seconds(pause))
            #expect(plan.waits(b, at: now))
            now += .seconds(pause)
            #expect(!plan.waits(b, at: now))
            #expect(plan.mode(isFamily: false, never, time: start + now, at: now) == .rest)
            plan.ended(.rest, outcome(b), walkBegan: start, time: start + now, at: now)
        }
        let planned = plan.pause(at: now)
        #expect(planned == hour - now)
        #expect(plan.mode(isFamily: false, never, time: start + hour, at: hour) == .whole)
        // The plan forgets a folder that can be listed again.
        plan.ended(.whole, outcome(), walkBegan: nil, time: start + hour, at: hour)
        let next = plan.pause(at: hour)
        #expect(next == hour && !plan.waits(b, at: hour))
    }

    @Test("I15: a walk that was cut off goes on when the server is there; the next comes after the interval")
    func cutOff() {
        var history = ScanMode.History(openWalk: start)
        var plan = WalkPlan(interval: hour)
        plan.ended(.whole, outcome(cutOff: true), walkBegan: nil, time: start, at: .zero)
        let soon = plan.pause(at: .zero)
        #expect(soon == nil)
        #expect(plan.mode(isFamily: false, history, time: start + .seconds(60), at: .seconds(60)) == .rest)
        plan.ended(.rest, outcome(), walkBegan: start, time: start + .seconds(60), at: .seconds(60))
        let planned = plan.pause(at: .seconds(60))
        #expect(planned == hour - .seconds(60))
        #expect(plan.mode(isFamily: false, .init(), time: start + hour, at: .seconds(61)) == .rest)
        // A caller that waited for the walk gets the walk, whatever the clock says then.
        plan.paused()
        #expect(plan.mode(isFamily: false, .init(), time: start + hour, at: .seconds(61)) == .whole)
        history.openWalk = nil
        #expect(plan.mode(isFamily: false, history, time: start + hour, at: hour) == .whole)

        // Another process, whose clock began anew, continues the walk too, for a day.
        history.openWalk = start
        var other = WalkPlan(interval: hour)
        #expect(other.mode(isFamily: false, history, time: start + hour * 23, at: .zero) == .rest)
        #expect(other.mode(isFamily: false, history, time: start + hour * 24, at: .zero) == .whole)
        other.ended(.rest, outcome(), walkBegan: start, time: start + hour * 2, at: .seconds(5))
        let none = other.pause(at: .seconds(5))
        #expect(none == .zero)
        #expect(other.mode(isFamily: false, .init(), time: start + hour * 2, at: .seconds(5)) == .whole)
    }

    @Test("a folder is left alone for as long as the server asks; somebody who calls has everything walked")
    func wishes() {
        let b = ItemPath(unchecked: "/b")
        var plan = WalkPlan(interval: hour)
        plan.ended(.whole, outcome(b, retryAfter: .seconds(90)), walkBegan: nil, time: start, at: .zero)
        let wished = plan.pause(at: .zero)
        #expect(wished == .seconds(90))
        #expect(plan.mode(isFamily: false, never, isCalled: true, time: start, at: .seconds(1)) == .whole)
    }

    @Test("where ETags tell of changes the plan has no say")
    func family() {
        var plan = WalkPlan(interval: hour)
        let history = ScanMode.History(lastWholeWalk: start, lastScan: start)
        plan.ended(.byETags, outcome(), walkBegan: nil, time: start, at: .zero)
        #expect(plan.mode(isFamily: true, history, time: start, at: .zero) == .byETags)
        var wrong = history
        wrong.etags.walked(ETagTrust.Evidence(contradicts: true), begun: start)
        #expect(plan.mode(isFamily: true, wrong, time: start, at: .zero) == .whole)
    }
}

import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests of what a loop that hangs, fails or has nothing to poll costs itself and other loops.
@Suite(.timeLimit(.minutes(20))) struct PatienceTests {
    @Test("L26: a poll that is not answered fails after its limit, and the cycle goes on")
    func overdue() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.core, .page("c1", gate: Gate()))
        await fixture.start()
        await fixture.pass(.seconds(59))
        #expect(fixture.script.polled == ["core"])
        await fixture.pass(.seconds(1))
        #expect(fixture.script.polled == ["core", "1"])
        #expect(fixture.script.reports.map(\.error?.kind) == [.overdue, nil])
        #expect(fixture.script.reports[0].duration == .seconds(60))
        #expect(fixture.script.journal(of: .core) == ["core: poll e0", "core: polled", "core: error overdue"])
        #expect(fixture.script.id(of: .core) == "e0" && fixture.script.mostActive == 1)
    }

    @Test(
        "L26: a poll that also does not let itself be cancelled is left behind; its loop waits for it, the others do not"
    )
    func hung() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        let gate = Gate(ignoresCancellation: true)
        fixture.script.polls(.one, .page("a1", gate: gate))
        await fixture.start()
        await fixture.pass(.seconds(64))
        #expect(fixture.script.polled == ["core", "1"])
        await fixture.pass(.seconds(1))
        #expect(fixture.script.polled == ["core", "1", "2"])
        #expect(fixture.script.journal(of: .one) == ["1: poll e0", "1: error overdue"])
        // The loop is enabled again but is not polled, since its old call is still under way.
        await fixture.scheduler.enableSpecialLoop(.one)
        await fixture.pass(SchedulerFixture.period * 3)
        #expect(fixture.script.polled.suffix(4) == ["core", "2", "core", "2"])

        gate.open()
        await until { await fixture.scheduler.calls.isEmpty }
        #expect(fixture.script.id(of: .one) == "e0")
        fixture.script.clearJournal()
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "2", "1"])
    }

    @Test("L26: when the connection timed out, the cycle's other loops are not tried")
    func connectionTimedOut() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        fixture.script.polls(.one, .fail(.connectionTimedOut))
        await fixture.start()
        #expect(fixture.script.polled == ["core", "1"])
        await fixture.tick()
        #expect(fixture.script.polled.suffix(3) == ["core", "1", "2"])
    }

    @Test(
        "L27: a loop that fails is polled at 1, 1, 2, 3, 5, 8, 8 periods, a success brings back 1; others are polled at each"
    )
    func backOff() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        for _ in 0..<7 { fixture.script.polls(.one, .fail(SomeError())) }
        await fixture.start()
        var polls = [0]
        for period in 1...31 {
            let before = fixture.script.journal(of: .one).filter { $0.contains("poll ") }.count
            await fixture.tick()
            let after = fixture.script.journal(of: .one).filter { $0.contains("poll ") }.count
            if after > before { polls.append(period) }
        }
        #expect(polls == [0, 1, 2, 4, 7, 12, 20, 28, 29, 30, 31])
        #expect(fixture.script.polled.filter { $0 == "core" }.count == 32)
        let failed = fixture.script.reports.filter { $0.loop == .one }
        #expect(failed.map(\.failures).prefix(8) == [1, 2, 3, 4, 5, 6, 7, 0])
        #expect(failed.map(\.nextPollIn?.components.seconds).prefix(4) == [60, 60, 120, 180])
    }

    @Test("L27: back-off keeps its count of periods when refills come early and late")
    func backOffWithJitter() async {
        // The refills come alternately as early and as late as possible.
        let turns = Counter()
        let fixture = SchedulerFixture(random: { turns.add() % 2 == 1 ? 0 : 0.999 })
        await fixture.enable(.one)
        for _ in 0..<6 { fixture.script.polls(.one, .fail(SomeError())) }
        await fixture.start()
        await fixture.pass(SchedulerFixture.period * 20 + .seconds(15))
        #expect(fixture.script.polled.filter { $0 == "1" }.count == 7)
        #expect(fixture.script.polled.filter { $0 == "core" }.count == 21)
    }

    @Test("L27: a loop's wait that the server asked for is kept, by triggers too")
    func retryAfter() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.one, .fail(.network, retryAfter: .seconds(150)))
        await fixture.start()
        #expect(fixture.script.reports.last?.nextPollIn == .seconds(180))
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.pass(.seconds(179))
        #expect(fixture.script.polled.filter { $0 == "1" }.count == 1)
        await fixture.pass(.seconds(1))
        #expect(fixture.script.polled.filter { $0 == "1" }.count == 2)
    }

    @Test(
        "O09: an account that is to wait polls nothing meanwhile; other accounts do not wait",
        arguments: [150, 1_000_000])
    func accountWaits(seconds: Int) async {
        let fixture = SchedulerFixture()
        let other = SchedulerFixture()
        await fixture.enable(.one, .two)
        await other.enable()
        fixture.script.polls(.one, .fail(.rateLimited, retryAfter: .seconds(seconds)))
        await fixture.start()
        await other.start()
        await fixture.scheduler.triggerCoreLoop()
        let wait = min(seconds, 86_400)
        await fixture.pass(.seconds(wait - 1))
        #expect(fixture.script.polled == ["core", "1"])
        await fixture.tick()
        #expect(fixture.script.polled.suffix(3) == ["core", "1", "2"])
        await other.tick()
        #expect(other.script.polled == ["core", "core"])
    }

    @Test("L33: a loop with nothing to poll is asked once a day, and that is no failure")
    func notOffered() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.one, .notOffered, .notOffered)
        await fixture.start()
        #expect(fixture.script.reports.last?.result == .notOffered && fixture.script.reports.last?.failures == 0)
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.scheduler.suspend()
        await fixture.start()
        await fixture.pass(.seconds(86_399))
        #expect(fixture.script.polled.filter { $0 == "1" }.count == 1)
        await fixture.pass(.seconds(2 * 86_400))
        #expect(fixture.script.polled.filter { $0 == "1" }.count > 2)
    }

    @Test("Refused credentials halt a loop, and all of them if it is the core loop's, until the next start")
    func unauthorized() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.one, .fail(.unauthorized))
        fixture.script.polls(.core, .page("c1"), .page("c2"), .fail(.unauthorized))
        await fixture.start()
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "1", "core"])
        await fixture.pass(SchedulerFixture.period * 20)
        #expect(fixture.script.polled == ["core", "1", "core", "core"])
        await fixture.scheduler.suspend()
        await fixture.start()
        #expect(fixture.script.polled.suffix(2) == ["core", "1"])
    }

    @Test(
        "K14: what is refused is asked for after 30 s, and the longer each time; a trigger does not hurry it, a start does"
    )
    func refused() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        for _ in 0..<9 { fixture.script.polls(.one, .fail(.refused)) }
        await fixture.start()
        #expect(fixture.script.polled == ["core", "1"])
        #expect(fixture.script.reports.last?.nextPollIn == SchedulerFixture.period)
        for _ in 0..<3 {
            await fixture.scheduler.triggerSpecialLoop(.two)
            await fixture.quiet()
        }
        #expect(fixture.script.polled.filter { $0 != "core" } == ["1"])
        // The waits are 30 s, then 1, 2, 4 and 8 minutes, then 15 minutes each, in whole minutes.
        let waits = fixture.script.reports.filter { $0.loop == .one }
        #expect(waits.count == 1)
        await fixture.pass(.seconds(3600))
        let tries = fixture.script.polled.filter { $0 == "1" }.count
        #expect(tries == 8)
        #expect(!fixture.script.polled.contains("2"))
        #expect(fixture.script.reports.last { $0.loop == .one }?.failures == 8)
        await fixture.scheduler.suspend()
        await fixture.start()
        #expect(fixture.script.polled.suffix(2) == ["core", "1"])
        // The tenth poll of loop 1 succeeds, and loop 2 is polled again.
        await fixture.pass(.seconds(960))
        #expect(fixture.script.polled.suffix(3) == ["core", "1", "2"])
    }

    @Test("What is forbidden to one loop holds up no other")
    func forbidden() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        fixture.script.polls(.one, .fail(.forbidden), .fail(.forbidden))
        await fixture.start()
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "1", "2", "core", "1", "2"])
        await fixture.tick()
        #expect(fixture.script.polled.suffix(3) == ["core", "1", "2"])
    }

    @Test("A loop that is held up by another's hanging call is tried at each tick")
    func busy() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        for _ in 0..<6 { fixture.script.polls(.core, .fail(.busy)) }
        await fixture.start()
        await fixture.pass(SchedulerFixture.period * 6)
        #expect(fixture.script.polled.count == 7)
        #expect(fixture.script.reports.allSatisfy { $0.failures == 0 })
    }
}

import Model
import TestSupport
import Testing

@testable import EventScheduler

/// What a loop that hangs, fails or has nothing to poll costs it and others.
@Suite(.timeLimit(.minutes(20))) struct PatienceTests {
    @Test("L26: a poll that is not answered fails after its limit, and the cycle goes on")
    func overdue() async {
        let bench = Bench()
        await bench.enable(.one)
        bench.world.polls(.core, .page("c1", gate: Gate()))
        await bench.start()
        await bench.pass(.seconds(59))
        #expect(bench.world.polled == ["core"])
        await bench.pass(.seconds(1))
        #expect(bench.world.polled == ["core", "1"])
        #expect(bench.world.reports.map(\.error?.kind) == [.overdue, nil])
        #expect(bench.world.reports[0].duration == .seconds(60))
        #expect(bench.world.journal(of: .core) == ["core: poll e0", "core: polled", "core: error overdue"])
        #expect(bench.world.id(of: .core) == "e0" && bench.world.mostActive == 1)
    }

    @Test(
        "L26: a poll that also does not let itself be cancelled is left behind; its loop waits for it, the others do not"
    )
    func hung() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        let gate = Gate(isDeaf: true)
        bench.world.polls(.one, .page("a1", gate: gate))
        await bench.start()
        await bench.pass(.seconds(64))
        #expect(bench.world.polled == ["core", "1"])
        await bench.pass(.seconds(1))
        #expect(bench.world.polled == ["core", "1", "2"])
        #expect(bench.world.journal(of: .one) == ["1: poll e0", "1: error overdue"])
        // Enabled anew, it would still meet the old call.
        await bench.scheduler.enableSpecialLoop(.one)
        await bench.pass(Bench.period * 3)
        #expect(bench.world.polled.suffix(4) == ["core", "2", "core", "2"])

        gate.open()
        await until { await bench.scheduler.calls.isEmpty }
        #expect(bench.world.id(of: .one) == "e0")
        bench.world.clearJournal()
        await bench.tick()
        #expect(bench.world.polled == ["core", "2", "1"])
    }

    @Test("L26: when the connection timed out, the cycle's other loops are not tried")
    func connectionTimedOut() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        bench.world.polls(.one, .fail(.connectionTimedOut))
        await bench.start()
        #expect(bench.world.polled == ["core", "1"])
        await bench.tick()
        #expect(bench.world.polled.suffix(3) == ["core", "1", "2"])
    }

    @Test(
        "L27: a loop that fails is polled at 1, 1, 2, 3, 5, 8, 8 periods, a success brings back 1; others are polled at each"
    )
    func backOff() async {
        let bench = Bench()
        await bench.enable(.one)
        for _ in 0..<7 { bench.world.polls(.one, .fail(SomeError())) }
        await bench.start()
        var polls = [0]
        for period in 1...31 {
            let before = bench.world.journal(of: .one).filter { $0.contains("poll ") }.count
            await bench.tick()
            let after = bench.world.journal(of: .one).filter { $0.contains("poll ") }.count
            if after > before { polls.append(period) }
        }
        #expect(polls == [0, 1, 2, 4, 7, 12, 20, 28, 29, 30, 31])
        #expect(bench.world.polled.filter { $0 == "core" }.count == 32)
        let failed = bench.world.reports.filter { $0.loop == .one }
        #expect(failed.map(\.failures).prefix(8) == [1, 2, 3, 4, 5, 6, 7, 0])
        #expect(failed.map(\.nextPollIn?.components.seconds).prefix(4) == [60, 60, 120, 180])
    }

    @Test("L27: back-off keeps its count of periods when refills come early and late")
    func backOffWithJitter() async {
        let flip = Flip()
        let bench = Bench(random: { flip.next() })
        await bench.enable(.one)
        for _ in 0..<6 { bench.world.polls(.one, .fail(SomeError())) }
        await bench.start()
        await bench.pass(Bench.period * 20 + .seconds(15))
        #expect(bench.world.polled.filter { $0 == "1" }.count == 7)
        #expect(bench.world.polled.filter { $0 == "core" }.count == 21)
    }

    @Test("L27: a loop's wait that the server asked for is kept, by triggers too")
    func retryAfter() async {
        let bench = Bench()
        await bench.enable(.one)
        bench.world.polls(.one, .fail(.network, retryAfter: .seconds(150)))
        await bench.start()
        #expect(bench.world.reports.last?.nextPollIn == .seconds(180))
        await bench.scheduler.triggerSpecialLoop(.one)
        await bench.pass(.seconds(179))
        #expect(bench.world.polled.filter { $0 == "1" }.count == 1)
        await bench.pass(.seconds(1))
        #expect(bench.world.polled.filter { $0 == "1" }.count == 2)
    }

    @Test(
        "O09: an account that is to wait polls nothing meanwhile; other accounts do not wait",
        arguments: [150, 1_000_000])
    func accountWaits(seconds: Int) async {
        let bench = Bench()
        let other = Bench()
        await bench.enable(.one, .two)
        await other.enable()
        bench.world.polls(.one, .fail(.rateLimited, retryAfter: .seconds(seconds)))
        await bench.start()
        await other.start()
        await bench.scheduler.triggerCoreLoop()
        let wait = min(seconds, 86_400)
        await bench.pass(.seconds(wait - 1))
        #expect(bench.world.polled == ["core", "1"])
        await bench.tick()
        #expect(bench.world.polled.suffix(3) == ["core", "1", "2"])
        await other.tick()
        #expect(other.world.polled == ["core", "core"])
    }

    @Test("L33: a loop with nothing to poll is asked once a day, and that is no failure")
    func notOffered() async {
        let bench = Bench()
        await bench.enable(.one)
        bench.world.polls(.one, .notOffered, .notOffered)
        await bench.start()
        #expect(bench.world.reports.last?.result == .notOffered && bench.world.reports.last?.failures == 0)
        await bench.scheduler.triggerSpecialLoop(.one)
        await bench.scheduler.suspend()
        await bench.start()
        await bench.pass(.seconds(86_399))
        #expect(bench.world.polled.filter { $0 == "1" }.count == 1)
        await bench.pass(.seconds(2 * 86_400))
        #expect(bench.world.polled.filter { $0 == "1" }.count > 2)
    }

    @Test("Refused credentials halt a loop, and all of them if it is the core loop's, until the next start")
    func unauthorized() async {
        let bench = Bench()
        await bench.enable(.one)
        bench.world.polls(.one, .fail(.unauthorized))
        bench.world.polls(.core, .page("c1"), .page("c2"), .fail(.unauthorized))
        await bench.start()
        await bench.tick()
        #expect(bench.world.polled == ["core", "1", "core"])
        await bench.pass(Bench.period * 20)
        #expect(bench.world.polled == ["core", "1", "core", "core"])
        await bench.scheduler.suspend()
        await bench.start()
        #expect(bench.world.polled.suffix(2) == ["core", "1"])
    }

    @Test(
        "K14: what is refused is asked for after 30 s, and the longer each time; a trigger does not hurry it, a start does"
    )
    func refused() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        for _ in 0..<9 { bench.world.polls(.one, .fail(.refused)) }
        await bench.start()
        #expect(bench.world.polled == ["core", "1"])
        #expect(bench.world.reports.last?.nextPollIn == Bench.period)
        for _ in 0..<3 {
            await bench.scheduler.triggerSpecialLoop(.two)
            await bench.quiet()
        }
        #expect(bench.world.polled.filter { $0 != "core" } == ["1"])
        // 30 s, 1, 2, 4, 8 and then each 15 minutes, in whole minutes.
        let waits = bench.world.reports.filter { $0.loop == .one }
        #expect(waits.count == 1)
        await bench.pass(.seconds(3600))
        let tries = bench.world.polled.filter { $0 == "1" }.count
        #expect(tries == 8)
        #expect(!bench.world.polled.contains("2"))
        #expect(bench.world.reports.last { $0.loop == .one }?.failures == 8)
        await bench.scheduler.suspend()
        await bench.start()
        #expect(bench.world.polled.suffix(2) == ["core", "1"])
        // The tenth goes well, and the others with it.
        await bench.pass(.seconds(960))
        #expect(bench.world.polled.suffix(3) == ["core", "1", "2"])
    }

    @Test("What is forbidden to one loop holds up no other")
    func forbidden() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        bench.world.polls(.one, .fail(.forbidden), .fail(.forbidden))
        await bench.start()
        await bench.tick()
        #expect(bench.world.polled == ["core", "1", "2", "core", "1", "2"])
        await bench.tick()
        #expect(bench.world.polled.suffix(3) == ["core", "1", "2"])
    }

    @Test("A loop that is held up by another's hanging call is tried at each tick")
    func busy() async {
        let bench = Bench()
        await bench.enable()
        for _ in 0..<6 { bench.world.polls(.core, .fail(.busy)) }
        await bench.start()
        await bench.pass(Bench.period * 6)
        #expect(bench.world.polled.count == 7)
        #expect(bench.world.reports.allSatisfy { $0.failures == 0 })
    }
}

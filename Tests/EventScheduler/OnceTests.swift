import Model
import TestSupport
import Testing

@testable import EventScheduler

/// A single run of all loops.
@Suite(.timeLimit(.minutes(20))) struct OnceTests {
    @Test(
        "A single run takes all pages of all loops, also of those that are enabled meanwhile, and leaves nothing behind"
    )
    func once() async {
        let bench = Bench()
        await bench.enable(.one)
        let scheduler = bench.scheduler
        bench.world.polls(.core, .page("c1", more: true), .page("c2"))
        bench.world.polls(.one, .fail(SomeError()))
        bench.world.processes(.core, .well(), .well(during: { await scheduler.enableSpecialLoop(.two) }))
        await scheduler.runOnce()
        #expect(bench.world.polled == ["core", "1", "core"])
        #expect(bench.world.journal(of: .two) == ["2: error missingEventID", "2: anchor", "2: fetch everything"])
        #expect(bench.world.reports.map(\.result) == [.more, .error, .ok, .refresh])
        #expect(bench.world.reports.last?.nextPollIn == nil)
        #expect(await scheduler.machine.armed == nil)
        #expect(await scheduler.calls.isEmpty)
    }

    @Test("L22: a single run of some loops polls the core loop first, takes their pages, and leaves the others alone")
    func some() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        let scheduler = bench.scheduler
        bench.world.polls(.core, .page("c1", more: true), .page("c2"))
        bench.world.processes(.core, .well(), .well(during: { await scheduler.enableSpecialLoop(.three) }))
        bench.world.polls(.two, .page("b1", more: true), .page("b2"))
        await scheduler.runOnce(only: [.two, .core])
        #expect(bench.world.polled == ["core", "2", "core", "2"])
        #expect(bench.world.id(of: .two) == "b2")
        bench.world.clearJournal()
        await scheduler.runOnce(only: [])
        #expect(bench.world.polled == [])
    }

    @Test("L22: who wants other loops while a single run goes on waits for those too")
    func joined() async {
        let bench = Bench()
        await bench.enable(core: false, .one, .two, .three)
        let gate = Gate()
        bench.world.polls(.one, .page("a1", gate: gate))
        async let first: Void = bench.scheduler.runOnce(only: [.one])
        await until { bench.world.blocked[.one] != nil }
        async let second: Void = bench.scheduler.runOnce(only: [.two])
        await until { await bench.scheduler.machine.once?.wanted == [.one, .two] }
        gate.open()
        _ = await (first, second)
        #expect(bench.world.polled == ["1", "2"])
    }

    @Test("A single run of no loops is over at once")
    func none() async {
        let bench = Bench()
        await bench.scheduler.runOnce()
        #expect(bench.world.journal.isEmpty)
    }

    @Test("A single run goes on with a loop that has more than fifty pages, and ends with one that always has more")
    func manyPages() async {
        let bench = Bench()
        await bench.enable(.one)
        for number in 1...120 { bench.world.polls(.core, .page("c\(number)", more: number < 120)) }
        for number in 1...1500 { bench.world.polls(.one, .page("a\(number)", more: true)) }
        await bench.scheduler.runOnce()
        #expect(bench.world.id(of: .core) == "c120")
        #expect(bench.world.id(of: .one) == "a1000")
    }

    @Test(
        "A single run ends when the scheduler is suspended, or whoever waits for it is cancelled",
        arguments: [true, false])
    func stopped(bySuspending: Bool) async {
        let bench = Bench()
        await bench.enable(.one)
        bench.world.polls(.core, .page("c1", gate: Gate()))
        let run = Task { await bench.scheduler.runOnce() }
        await until { bench.world.blocked[.core] != nil }
        if bySuspending { await bench.scheduler.suspend() } else { run.cancel() }
        await run.value
        await bench.quiet()
        #expect(bench.world.polled == ["core"])
        #expect(bench.world.id(of: .core) == "e0")
    }

    @Test("A single run of a loop that hangs ends after its limit")
    func hung() async {
        let bench = Bench()
        await bench.enable(.one)
        let gate = Gate(isDeaf: true)
        bench.world.polls(.core, .page("c1", gate: gate))
        async let run: Void = bench.scheduler.runOnce()
        await until { bench.world.blocked[.core] != nil }
        await bench.pass(.seconds(65))
        await run
        #expect(bench.world.polled == ["core", "1"])
        gate.open()
    }
}

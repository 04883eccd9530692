import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests of a single run of all loops.
@Suite(.timeLimit(.minutes(20))) struct OnceTests {
    @Test(
        "A single run takes all pages of all loops, also of those that are enabled meanwhile, and leaves nothing behind"
    )
    func once() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        let scheduler = fixture.scheduler
        fixture.script.polls(.core, .page("c1", more: true), .page("c2"))
        fixture.script.polls(.one, .fail(SomeError()))
        fixture.script.processes(.core, .well(), .well(during: { await scheduler.enableSpecialLoop(.two) }))
        await scheduler.runOnce()
        #expect(fixture.script.polled == ["core", "1", "core"])
        #expect(fixture.script.journal(of: .two) == ["2: error missingEventID", "2: anchor", "2: fetch everything"])
        #expect(fixture.script.reports.map(\.result) == [.more, .error, .ok, .refresh])
        #expect(fixture.script.reports.last?.nextPollIn == nil)
        #expect(await scheduler.machine.armed == nil)
        #expect(await scheduler.calls.isEmpty)
    }

    @Test("A single run takes a loop that a turn found once", arguments: [true, false])
    func found(isStarted: Bool) async {
        let fixture = SchedulerFixture()
        if isStarted { await fixture.start() }
        await fixture.enable()
        fixture.script.setID("e0", of: .two)
        fixture.script.polls(.core, .page("add 2"))
        await fixture.scheduler.runOnce()
        #expect(fixture.script.polled == ["core", "2"])
    }

    @Test("L22: a single run of some loops polls the core loop first, takes their pages, and leaves the others alone")
    func some() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        let scheduler = fixture.scheduler
        fixture.script.polls(.core, .page("c1", more: true), .page("c2"))
        fixture.script.processes(.core, .well(), .well(during: { await scheduler.enableSpecialLoop(.three) }))
        fixture.script.polls(.two, .page("b1", more: true), .page("b2"))
        await scheduler.runOnce(only: [.two, .core])
        #expect(fixture.script.polled == ["core", "2", "core", "2"])
        #expect(fixture.script.id(of: .two) == "b2")
        fixture.script.clearJournal()
        await scheduler.runOnce(only: [])
        #expect(fixture.script.polled == [])
    }

    @Test("L22: who wants other loops while a single run goes on waits for those too")
    func joined() async {
        let fixture = SchedulerFixture()
        await fixture.enable(core: false, .one, .two, .three)
        let gate = Gate()
        fixture.script.polls(.one, .page("a1", gate: gate))
        async let first: Void = fixture.scheduler.runOnce(only: [.one])
        await until { fixture.script.blocked[.one] != nil }
        async let second: Void = fixture.scheduler.runOnce(only: [.two])
        await until { await fixture.scheduler.machine.once?.wanted == [.one, .two] }
        gate.open()
        _ = await (first, second)
        #expect(fixture.script.polled == ["1", "2"])
    }

    @Test("A single run of no loops is over at once")
    func none() async {
        let fixture = SchedulerFixture()
        await fixture.scheduler.runOnce()
        #expect(fixture.script.journal.isEmpty)
    }

    @Test("A single run goes on with a loop that has more than fifty pages, and ends with one that always has more")
    func manyPages() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        for number in 1...120 { fixture.script.polls(.core, .page("c\(number)", more: number < 120)) }
        for number in 1...1500 { fixture.script.polls(.one, .page("a\(number)", more: true)) }
        await fixture.scheduler.runOnce()
        #expect(fixture.script.id(of: .core) == "c120")
        #expect(fixture.script.id(of: .one) == "a1000")
    }

    @Test(
        "A single run ends when the scheduler is suspended, or whoever waits for it is cancelled",
        arguments: [true, false])
    func stopped(bySuspending: Bool) async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.core, .page("c1", gate: Gate()))
        let run = Task { await fixture.scheduler.runOnce() }
        await until { fixture.script.blocked[.core] != nil }
        if bySuspending { await fixture.scheduler.suspend() } else { run.cancel() }
        await run.value
        await fixture.quiet()
        #expect(fixture.script.polled == ["core"])
        #expect(fixture.script.id(of: .core) == "e0")
    }

    @Test("A single run of a loop that hangs ends after its limit")
    func hung() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        let gate = Gate(ignoresCancellation: true)
        fixture.script.polls(.core, .page("c1", gate: gate))
        async let run: Void = fixture.scheduler.runOnce()
        await until { fixture.script.blocked[.core] != nil }
        await fixture.pass(.seconds(65))
        await run
        #expect(fixture.script.polled == ["core", "1"])
        gate.open()
    }
}

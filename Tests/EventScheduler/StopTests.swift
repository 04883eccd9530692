import Model
import Synchronization
import TestSupport
import Testing

@testable import EventScheduler

/// Tests that suspending, resetting, disabling and replacing leave nothing behind.
@Suite(.timeLimit(.minutes(20))) struct StopTests {
    @Test("L16: suspending drops the answer under way, and returns when the call has ended", arguments: [true, false])
    func suspend(inPoll: Bool) async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        let gate = Gate()
        fixture.script.polls(.core, .page("c1", more: true, gate: inPoll ? gate : nil))
        fixture.script.processes(.core, .well(inPoll ? nil : gate))
        await fixture.start()
        #expect(fixture.script.blocked[.core] === gate)
        await fixture.scheduler.suspend()
        #expect(fixture.script.blocked.isEmpty)
        #expect(await fixture.scheduler.calls.isEmpty)
        await fixture.pass(.seconds(600))
        #expect(fixture.script.id(of: .core) == "e0")
        #expect(fixture.script.polled == ["core"])
        #expect(fixture.script.reports.isEmpty && !fixture.script.journal.contains { $0.contains("error") })
    }

    @Test(
        "L16: suspending waits no longer than its grace for a call that does not listen, and drops what it says later")
    func suspendDeaf() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        let gate = Gate(ignoresCancellation: true)
        fixture.script.polls(.core, .page("c1", gate: gate))
        await fixture.start()
        let hasReturned = Mutex(false)
        async let suspended: Void = {
            await fixture.scheduler.suspend()
            hasReturned.withLock { $0 = true }
        }()
        await until { await !fixture.scheduler.machine.isStarted }
        await fixture.pass(.seconds(4))
        #expect(!hasReturned.withLock { $0 })
        await fixture.pass(.seconds(1))
        await suspended
        gate.open()
        await until { await fixture.scheduler.calls.isEmpty }
        #expect(fixture.script.id(of: .core) == "e0" && fixture.script.reports.isEmpty)
        #expect(fixture.script.journal == ["core: poll e0", "core: polled"])
    }

    @Test("L16: a loop may have its own scheduler suspended")
    func suspendFromWithin() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        let scheduler = fixture.scheduler
        fixture.script.processes(.core, .well(during: { await scheduler.suspend() }))
        fixture.script.polls(.core, .page("c1", more: true))
        await fixture.start()
        await until { await scheduler.calls.isEmpty }
        #expect(fixture.script.id(of: .core) == "e0")
        #expect(fixture.script.polled == ["core"])
    }

    @Test("L17: start after suspend polls the enabled loops from their stored ids")
    func resume() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.core, .page("c1"))
        await fixture.start()
        await fixture.scheduler.suspend()
        await fixture.tick()
        fixture.script.clearJournal()
        await fixture.start()
        #expect(fixture.script.journal.filter { $0.contains("poll ") } == ["core: poll c1", "1: poll e0"])
    }

    @Test(
        "L18: reset forgets the special loops; logout also the core loop, and drops the ids when nothing can store one any more"
    )
    func resetAndLogout() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        await fixture.start()
        await fixture.scheduler.reset()
        #expect(await fixture.scheduler.currentlyEnabled() == EnabledLoops(core: .core))
        fixture.script.clearJournal()
        let gate = Gate()
        fixture.script.polls(.core, .page("c9", gate: gate))
        await fixture.start()
        #expect(fixture.script.polled == ["core"])

        let script = fixture.script
        await fixture.scheduler.logout {
            #expect(script.blocked.isEmpty)
            script.setID(nil, of: .core)
        }
        #expect(await fixture.scheduler.currentlyEnabled() == EnabledLoops())
        await fixture.start()
        await fixture.tick()
        #expect(fixture.script.polled == ["core"] && fixture.script.id(of: .core) == nil)
    }

    @Test(
        "L19: of a disabled loop what is queued vanishes, what is under way is dropped, and no more follows",
        arguments: [true, false])
    func disable(inPoll: Bool) async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        let gate = Gate()
        fixture.script.polls(.one, .page("a1", more: true, gate: inPoll ? gate : nil))
        fixture.script.processes(.one, .well(inPoll ? nil : gate))
        await fixture.start()
        #expect(await fixture.scheduler.machine.queue.map(\.loop) == [.two])
        await fixture.scheduler.disableSpecialLoop(.two)
        #expect(await fixture.scheduler.machine.queue.isEmpty)
        await fixture.scheduler.disableSpecialLoop(.one)
        await fixture.quiet()
        #expect(fixture.script.id(of: .one) == "e0")
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "1", "core"])
        #expect(fixture.script.reports.map(\.loop) == [.core, .core])
    }

    // spec: L20
    @Test(
        "L20: a loop enabled at run time joins the next refill; enabling it again replaces the one before and cancels it"
    )
    func enable() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        await fixture.start()
        await fixture.enable(core: false, .one)
        #expect(fixture.script.polled == ["core"])
        let gate = Gate()
        fixture.script.polls(.one, .page("a1", gate: gate))
        await fixture.tick()
        #expect(fixture.script.blocked[.one] === gate)
        await fixture.scheduler.enableSpecialLoop(.one)
        await fixture.quiet()
        #expect(fixture.script.blocked.isEmpty && fixture.script.id(of: .one) == "e0")
        await fixture.tick()
        // The core loop was made first, and then two loops for the calendar.
        #expect(fixture.script.pollers == [0, 0, 1, 0, 2])
    }
}

import Model
import Synchronization
import TestSupport
import Testing

@testable import EventScheduler

/// What suspending, resetting, disabling and replacing leave behind: nothing.
@Suite(.timeLimit(.minutes(20))) struct StopTests {
    @Test("L16: suspending drops the answer under way, and returns when the call has ended", arguments: [true, false])
    func suspend(inPoll: Bool) async {
        let bench = Bench()
        await bench.enable(.one)
        let gate = Gate()
        bench.world.polls(.core, .page("c1", more: true, gate: inPoll ? gate : nil))
        bench.world.processes(.core, .well(inPoll ? nil : gate))
        await bench.start()
        #expect(bench.world.blocked[.core] === gate)
        await bench.scheduler.suspend()
        #expect(bench.world.blocked.isEmpty)
        #expect(await bench.scheduler.calls.isEmpty)
        await bench.pass(.seconds(600))
        #expect(bench.world.id(of: .core) == "e0")
        #expect(bench.world.polled == ["core"])
        #expect(bench.world.reports.isEmpty && !bench.world.journal.contains { $0.contains("error") })
    }

    @Test(
        "L16: suspending waits no longer than its grace for a call that does not listen, and drops what it says later")
    func suspendDeaf() async {
        let bench = Bench()
        await bench.enable()
        let gate = Gate(isDeaf: true)
        bench.world.polls(.core, .page("c1", gate: gate))
        await bench.start()
        let hasReturned = Mutex(false)
        async let suspended: Void = {
            await bench.scheduler.suspend()
            hasReturned.withLock { $0 = true }
        }()
        await until { await !bench.scheduler.machine.isStarted }
        await bench.pass(.seconds(4))
        #expect(!hasReturned.withLock { $0 })
        await bench.pass(.seconds(1))
        await suspended
        gate.open()
        await until { await bench.scheduler.calls.isEmpty }
        #expect(bench.world.id(of: .core) == "e0" && bench.world.reports.isEmpty)
        #expect(bench.world.journal == ["core: poll e0", "core: polled"])
    }

    @Test("L16: a loop may have its own scheduler suspended")
    func suspendFromWithin() async {
        let bench = Bench()
        await bench.enable()
        let scheduler = bench.scheduler
        bench.world.processes(.core, .well(during: { await scheduler.suspend() }))
        bench.world.polls(.core, .page("c1", more: true))
        await bench.start()
        await until { await scheduler.calls.isEmpty }
        #expect(bench.world.id(of: .core) == "e0")
        #expect(bench.world.polled == ["core"])
    }

    @Test("L17: start after suspend polls the enabled loops from their stored ids")
    func resume() async {
        let bench = Bench()
        await bench.enable(.one)
        bench.world.polls(.core, .page("c1"))
        await bench.start()
        await bench.scheduler.suspend()
        await bench.tick()
        bench.world.clearJournal()
        await bench.start()
        #expect(bench.world.journal.filter { $0.contains("poll ") } == ["core: poll c1", "1: poll e0"])
    }

    @Test(
        "L18: reset forgets the special loops; logout also the core loop, and drops the ids when nothing can store one any more"
    )
    func resetAndLogout() async {
        let bench = Bench()
        await bench.enable(.one)
        await bench.start()
        await bench.scheduler.reset()
        #expect(await bench.scheduler.currentlyEnabled() == EnabledLoops(core: .core))
        bench.world.clearJournal()
        let gate = Gate()
        bench.world.polls(.core, .page("c9", gate: gate))
        await bench.start()
        #expect(bench.world.polled == ["core"])

        let world = bench.world
        await bench.scheduler.logout {
            #expect(world.blocked.isEmpty)
            world.setID(nil, of: .core)
        }
        #expect(await bench.scheduler.currentlyEnabled() == EnabledLoops())
        await bench.start()
        await bench.tick()
        #expect(bench.world.polled == ["core"] && bench.world.id(of: .core) == nil)
    }

    @Test(
        "L19: of a disabled loop what is queued vanishes, what is under way is dropped, and no more follows",
        arguments: [true, false])
    func disable(inPoll: Bool) async {
        let bench = Bench()
        await bench.enable(.one, .two)
        let gate = Gate()
        bench.world.polls(.one, .page("a1", more: true, gate: inPoll ? gate : nil))
        bench.world.processes(.one, .well(inPoll ? nil : gate))
        await bench.start()
        #expect(await bench.scheduler.machine.queue.map(\.loop) == [.two])
        await bench.scheduler.disableSpecialLoop(.two)
        #expect(await bench.scheduler.machine.queue.isEmpty)
        await bench.scheduler.disableSpecialLoop(.one)
        await bench.quiet()
        #expect(bench.world.id(of: .one) == "e0")
        await bench.tick()
        #expect(bench.world.polled == ["core", "1", "core"])
        #expect(bench.world.reports.map(\.loop) == [.core, .core])
    }

    // spec: L20
    @Test(
        "L20: a loop enabled at run time joins the next refill; enabling it again replaces the one before and cancels it"
    )
    func enable() async {
        let bench = Bench()
        await bench.enable()
        await bench.start()
        await bench.enable(core: false, .one)
        #expect(bench.world.polled == ["core"])
        let gate = Gate()
        bench.world.polls(.one, .page("a1", gate: gate))
        await bench.tick()
        #expect(bench.world.blocked[.one] === gate)
        await bench.scheduler.enableSpecialLoop(.one)
        await bench.quiet()
        #expect(bench.world.blocked.isEmpty && bench.world.id(of: .one) == "e0")
        await bench.tick()
        // The core loop was made first, then two for the calendar.
        #expect(bench.world.pollers == [0, 0, 1, 0, 2])
    }
}

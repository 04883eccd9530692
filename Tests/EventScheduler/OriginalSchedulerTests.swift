import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests that repeat the original's tests of its scheduler, by their numbers, on a first-in, first-out queue.
@Suite(.timeLimit(.minutes(20))) struct OriginalSchedulerTests {
    /// Makes a scheduler with the core loop and two special loops, each with an event id.
    private func fixture(_ script: LoopScript = LoopScript()) async -> SchedulerFixture {
        let fixture = SchedulerFixture(script: script)
        await fixture.enable(.one, .two)
        return fixture
    }

    @Test("Original 1: operations run one at a time")
    func serial() async {
        let fixture = await fixture()
        await fixture.start()
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "1", "2", "core", "1", "2"])
        #expect(fixture.script.mostActive == 1)
    }

    @Test("Original 2: construction makes no loops")
    func construction() {
        #expect(SchedulerFixture().script.made.isEmpty)
    }

    @Test("Original 3: start sets one timer, for now and then every 60 seconds")
    func timer() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        await until { !fixture.clock.deadlines.isEmpty }
        #expect(fixture.clock.deadlines == [.zero])
        await fixture.pass(.zero)
        await until { !fixture.clock.deadlines.isEmpty }
        #expect(fixture.clock.deadlines == [.seconds(60)])
        await fixture.tick()
        await until { !fixture.clock.deadlines.isEmpty }
        #expect(fixture.clock.deadlines == [.seconds(120)])
    }

    @Test("Original 4: start and suspend leave no timer")
    func suspendedTimer() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        await until { !fixture.clock.deadlines.isEmpty }
        await fixture.scheduler.suspend()
        await until { fixture.clock.deadlines.isEmpty }
        #expect(await fixture.scheduler.machine.armed == nil)
    }

    @Test("Original 5: a suspended queue runs nothing")
    func suspendedQueue() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        await fixture.scheduler.suspend()
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.tick()
        #expect(await fixture.scheduler.machine.isActive == false)
        #expect(fixture.script.journal.isEmpty)
    }

    @Test("Original 6: enabling makes each loop once, with its id and its stored event id")
    func enabling() async throws {
        let fixture = await fixture()
        #expect(fixture.script.made == [.core, .one, .two])
        #expect(await fixture.scheduler.currentlyEnabled() == EnabledLoops(core: .core, special: [.one, .two]))
        #expect(fixture.script.id(of: .two) == "e0")
    }

    @Test("Original 7: start alone runs nothing")
    func startAlone() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        #expect(await fixture.scheduler.machine.running == nil)
        #expect(await fixture.scheduler.machine.queue.isEmpty)
        #expect(fixture.script.journal.isEmpty)
    }

    @Test("Original 8: triggering a special loop runs it and the core loop, and no other")
    func triggerSpecial() async {
        let fixture = await fixture()
        await fixture.start()
        fixture.script.clearJournal()
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.quiet()
        #expect(fixture.script.polled == ["core", "1"])
    }

    @Test("Original 9: after a special loop was triggered, a tick runs all")
    func triggerSpecialThenTick() async {
        let fixture = await fixture()
        await fixture.start()
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.quiet()
        fixture.script.clearJournal()
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "1", "2"])
    }

    @Test("Original 10: triggering the core loop runs it alone")
    func triggerCore() async {
        let fixture = await fixture()
        await fixture.start()
        fixture.script.clearJournal()
        await fixture.scheduler.triggerCoreLoop()
        await fixture.quiet()
        #expect(fixture.script.polled == ["core"])
    }

    @Test("Original 11: after the core loop was triggered, a tick runs all")
    func triggerCoreThenTick() async {
        let fixture = await fixture()
        await fixture.start()
        await fixture.scheduler.triggerCoreLoop()
        await fixture.quiet()
        fixture.script.clearJournal()
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "1", "2"])
    }

    @Test("Original 12: start, suspend, tick: nothing runs")
    func startSuspendTick() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        await fixture.scheduler.suspend()
        await fixture.tick()
        #expect(fixture.script.journal.isEmpty)
    }

    @Test("Original 13: start, suspend, start, tick: all run")
    func startSuspendStartTick() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        await fixture.scheduler.suspend()
        await fixture.start()
        #expect(fixture.script.polled == ["core", "1", "2"])
    }

    @Test("Original 14: start, reset, tick: nothing runs")
    func startResetTick() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        await fixture.scheduler.reset()
        await fixture.tick()
        #expect(fixture.script.journal.isEmpty)
    }

    @Test("Original 15: start, reset, start, tick: only the core loop runs")
    func startResetStartTick() async {
        let fixture = await fixture()
        await fixture.scheduler.start()
        await fixture.scheduler.reset()
        await fixture.start()
        #expect(fixture.script.polled == ["core"])
    }

    @Test("Original 16: one tick takes every page of every loop, stage by stage, and the ids advance")
    func pages() async {
        let fixture = await fixture()
        fixture.script.polls(.core, .page("c1"))
        fixture.script.polls(.one, .page("a1", more: true), .page("a2"))
        fixture.script.polls(.two, .page("b1", more: true), .page("b2"))
        await fixture.start()
        #expect(
            fixture.script.journal(of: .core) == [
                "core: poll e0", "core: polled", "core: process c1", "core: processed",
            ])
        #expect(
            fixture.script.journal(of: .one) == [
                "1: poll e0", "1: polled", "1: process a1", "1: processed",
                "1: poll a1", "1: polled", "1: process a2", "1: processed",
            ])
        #expect(fixture.script.polled == ["core", "1", "2", "1", "2"])
        #expect([LoopKey.core, .one, .two].map { fixture.script.id(of: $0) } == ["c1", "a2", "b2"])
    }

    @Test("Original 17: two ticks before the queue is empty do the work once")
    func twoTicks() async {
        let fixture = await fixture(LoopScript(limits: LoopLimits(polling: .seconds(600))))
        let gate = Gate()
        fixture.script.polls(.core, .page("c1", gate: gate))
        await fixture.start()
        await fixture.tick()
        gate.open()
        await fixture.quiet()
        #expect(fixture.script.polled == ["core", "1", "2"])
    }

    @Test("Original 18: a special loop that the core loop stops after a tick queued it never runs, the rest does")
    func stoppedByCore() async {
        let fixture = await fixture()
        fixture.script.polls(.core, .page("stop 1"))
        await fixture.start()
        #expect(fixture.script.polled == ["core", "2"])
    }

    @Test("Original 19: a special loop that was stopped before the ticks never runs")
    func stoppedBefore() async {
        let fixture = await fixture()
        await fixture.scheduler.disableSpecialLoop(.one)
        await fixture.start()
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "2", "core", "2"])
    }

    @Test("Original 20: a missing id is reported and the loop fetches everything in the same turn; others run")
    func missingID() async {
        let fixture = await fixture()
        fixture.script.setID(nil, of: .core)
        fixture.script.setID(nil, of: .two)
        await fixture.start()
        #expect(
            fixture.script.journal(of: .core) == [
                "core: error missingEventID", "core: anchor", "core: fetch everything",
            ])
        #expect(fixture.script.journal(of: .two) == ["2: error missingEventID", "2: anchor", "2: fetch everything"])
        #expect(fixture.script.journal(of: .one) == ["1: poll e0", "1: polled", "1: process e0", "1: processed"])
    }

    @Test(
        "Original 21: a page that wants a refresh is reported and not processed, whatever its id and more; others run")
    func refresh() async {
        let fixture = await fixture()
        fixture.script.polls(.one, .page("a1", more: true, refresh: .everything))
        await fixture.start()
        #expect(
            fixture.script.journal(of: .one) == [
                "1: poll e0", "1: polled", "1: error outdated", "1: anchor", "1: fetch everything",
            ])
        #expect(fixture.script.id(of: .one) == "anchor")
        #expect(fixture.script.polled == ["core", "1", "2"])
    }

    @Test("Original 22: a failed poll of the core loop is reported, its id stays, the special loops run")
    func pollFailure() async {
        let fixture = await fixture()
        fixture.script.polls(.core, .fail(SomeError()))
        await fixture.start()
        #expect(fixture.script.journal(of: .core) == ["core: poll e0", "core: error network"])
        #expect(fixture.script.id(of: .core) == "e0")
        #expect(fixture.script.polled == ["core", "1", "2"])
    }

    @Test("Original 23: a failed processing is reported, the id stays, others run")
    func processingFailure() async {
        let fixture = await fixture()
        fixture.script.polls(.one, .page("a1"))
        fixture.script.processes(.one, .fail(SomeError()))
        await fixture.start()
        #expect(
            fixture.script.journal(of: .one) == ["1: poll e0", "1: polled", "1: process a1", "1: error processing"])
        #expect(fixture.script.id(of: .one) == "e0")
        #expect(fixture.script.polled == ["core", "1", "2"])
    }

    @Test("Original 24: ten loops enabled at once are all enabled")
    func concurrentEnabling() async {
        let fixture = await fixture()
        await withTaskGroup(of: Void.self) { group in
            for number in 10..<20 {
                group.addTask { await fixture.scheduler.enableSpecialLoop(.special("\(number)")) }
            }
        }
        #expect(await fixture.scheduler.currentlyEnabled().special.count == 12)
    }

    /// The original tests its operations. In this scheduler an operation owns only a call that is under way.
    @Test(
        "Original operation 1, 2: a scheduler that is released while a poll or a process is under way",
        arguments: [true, false])
    func released(inPoll: Bool) async {
        let script = LoopScript()
        let gate = Gate(ignoresCancellation: true)
        script.polls(.core, .page("c1", gate: inPoll ? gate : nil))
        script.processes(.core, .well(inPoll ? nil : gate))
        weak var released: EventsPeriodicScheduler?
        do {
            let fixture = SchedulerFixture(script: script)
            released = fixture.scheduler
            await fixture.enable()
            await fixture.start()
            #expect(script.blocked[.core] === gate)
        }
        await until { released == nil }
        gate.open()
        await until { script.blocked.isEmpty }
        #expect(script.id(of: .core) == "e0")
    }
}

struct SomeError: Error {}

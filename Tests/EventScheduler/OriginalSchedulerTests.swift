import Model
import TestSupport
import Testing

@testable import EventScheduler

/// What the original's tests of its scheduler show, by their numbers, on a queue that is first in, first out.
@Suite(.timeLimit(.minutes(20))) struct OriginalSchedulerTests {
    /// The core loop and two special loops, each with an id.
    private func bench(_ world: World = World()) async -> Bench {
        let bench = Bench(world: world)
        await bench.enable(.one, .two)
        return bench
    }

    @Test("Original 1: operations run one at a time")
    func serial() async {
        let bench = await bench()
        await bench.start()
        await bench.tick()
        #expect(bench.world.polled == ["core", "1", "2", "core", "1", "2"])
        #expect(bench.world.mostActive == 1)
    }

    @Test("Original 2: construction makes no loops")
    func construction() {
        #expect(Bench().world.made.isEmpty)
    }

    @Test("Original 3: start sets one timer, for now and then every 60 seconds")
    func timer() async {
        let bench = await bench()
        await bench.scheduler.start()
        await until { !bench.clock.deadlines.isEmpty }
        #expect(bench.clock.deadlines == [.zero])
        await bench.pass(.zero)
        await until { !bench.clock.deadlines.isEmpty }
        #expect(bench.clock.deadlines == [.seconds(60)])
        await bench.tick()
        await until { !bench.clock.deadlines.isEmpty }
        #expect(bench.clock.deadlines == [.seconds(120)])
    }

    @Test("Original 4: start and suspend leave no timer")
    func suspendedTimer() async {
        let bench = await bench()
        await bench.scheduler.start()
        await until { !bench.clock.deadlines.isEmpty }
        await bench.scheduler.suspend()
        await until { bench.clock.deadlines.isEmpty }
        #expect(await bench.scheduler.machine.armed == nil)
    }

    @Test("Original 5: a suspended queue runs nothing")
    func suspendedQueue() async {
        let bench = await bench()
        await bench.scheduler.start()
        await bench.scheduler.suspend()
        await bench.scheduler.triggerSpecialLoop(.one)
        await bench.tick()
        #expect(await bench.scheduler.machine.isActive == false)
        #expect(bench.world.journal.isEmpty)
    }

    @Test("Original 6: enabling makes each loop once, with its id and its stored event id")
    func enabling() async throws {
        let bench = await bench()
        #expect(bench.world.made == [.core, .one, .two])
        #expect(await bench.scheduler.currentlyEnabled() == EnabledLoops(core: .core, special: [.one, .two]))
        #expect(bench.world.id(of: .two) == "e0")
    }

    @Test("Original 7: start alone runs nothing")
    func startAlone() async {
        let bench = await bench()
        await bench.scheduler.start()
        #expect(await bench.scheduler.machine.running == nil)
        #expect(await bench.scheduler.machine.queue.isEmpty)
        #expect(bench.world.journal.isEmpty)
    }

    @Test("Original 8: triggering a special loop runs it and the core loop, and no other")
    func triggerSpecial() async {
        let bench = await bench()
        await bench.start()
        bench.world.clearJournal()
        await bench.scheduler.triggerSpecialLoop(.one)
        await bench.quiet()
        #expect(bench.world.polled == ["core", "1"])
    }

    @Test("Original 9: after a special loop was triggered, a tick runs all")
    func triggerSpecialThenTick() async {
        let bench = await bench()
        await bench.start()
        await bench.scheduler.triggerSpecialLoop(.one)
        await bench.quiet()
        bench.world.clearJournal()
        await bench.tick()
        #expect(bench.world.polled == ["core", "1", "2"])
    }

    @Test("Original 10: triggering the core loop runs it alone")
    func triggerCore() async {
        let bench = await bench()
        await bench.start()
        bench.world.clearJournal()
        await bench.scheduler.triggerCoreLoop()
        await bench.quiet()
        #expect(bench.world.polled == ["core"])
    }

    @Test("Original 11: after the core loop was triggered, a tick runs all")
    func triggerCoreThenTick() async {
        let bench = await bench()
        await bench.start()
        await bench.scheduler.triggerCoreLoop()
        await bench.quiet()
        bench.world.clearJournal()
        await bench.tick()
        #expect(bench.world.polled == ["core", "1", "2"])
    }

    @Test("Original 12: start, suspend, tick: nothing runs")
    func startSuspendTick() async {
        let bench = await bench()
        await bench.scheduler.start()
        await bench.scheduler.suspend()
        await bench.tick()
        #expect(bench.world.journal.isEmpty)
    }

    @Test("Original 13: start, suspend, start, tick: all run")
    func startSuspendStartTick() async {
        let bench = await bench()
        await bench.scheduler.start()
        await bench.scheduler.suspend()
        await bench.start()
        #expect(bench.world.polled == ["core", "1", "2"])
    }

    @Test("Original 14: start, reset, tick: nothing runs")
    func startResetTick() async {
        let bench = await bench()
        await bench.scheduler.start()
        await bench.scheduler.reset()
        await bench.tick()
        #expect(bench.world.journal.isEmpty)
    }

    @Test("Original 15: start, reset, start, tick: only the core loop runs")
    func startResetStartTick() async {
        let bench = await bench()
        await bench.scheduler.start()
        await bench.scheduler.reset()
        await bench.start()
        #expect(bench.world.polled == ["core"])
    }

    @Test("Original 16: one tick takes every page of every loop, stage by stage, and the ids advance")
    func pages() async {
        let bench = await bench()
        bench.world.polls(.core, .page("c1"))
        bench.world.polls(.one, .page("a1", more: true), .page("a2"))
        bench.world.polls(.two, .page("b1", more: true), .page("b2"))
        await bench.start()
        #expect(
            bench.world.journal(of: .core) == ["core: poll e0", "core: polled", "core: process c1", "core: processed"])
        #expect(
            bench.world.journal(of: .one) == [
                "1: poll e0", "1: polled", "1: process a1", "1: processed",
                "1: poll a1", "1: polled", "1: process a2", "1: processed",
            ])
        #expect(bench.world.polled == ["core", "1", "2", "1", "2"])
        #expect([LoopKey.core, .one, .two].map { bench.world.id(of: $0) } == ["c1", "a2", "b2"])
    }

    @Test("Original 17: two ticks before the queue is empty do the work once")
    func twoTicks() async {
        let bench = await bench(World(limits: LoopLimits(polling: .seconds(600))))
        let gate = Gate()
        bench.world.polls(.core, .page("c1", gate: gate))
        await bench.start()
        await bench.tick()
        gate.open()
        await bench.quiet()
        #expect(bench.world.polled == ["core", "1", "2"])
    }

    @Test("Original 18: a special loop that the core loop stops after a tick queued it never runs, the rest does")
    func stoppedByCore() async {
        let bench = await bench()
        bench.world.polls(.core, .page("stop 1"))
        await bench.start()
        #expect(bench.world.polled == ["core", "2"])
    }

    @Test("Original 19: a special loop that was stopped before the ticks never runs")
    func stoppedBefore() async {
        let bench = await bench()
        await bench.scheduler.disableSpecialLoop(.one)
        await bench.start()
        await bench.tick()
        #expect(bench.world.polled == ["core", "2", "core", "2"])
    }

    @Test("Original 20: a missing id is reported and the loop fetches everything in the same turn; others run")
    func missingID() async {
        let bench = await bench()
        bench.world.setID(nil, of: .core)
        bench.world.setID(nil, of: .two)
        await bench.start()
        #expect(
            bench.world.journal(of: .core) == ["core: error missingEventID", "core: anchor", "core: fetch everything"])
        #expect(bench.world.journal(of: .two) == ["2: error missingEventID", "2: anchor", "2: fetch everything"])
        #expect(bench.world.journal(of: .one) == ["1: poll e0", "1: polled", "1: process e0", "1: processed"])
    }

    @Test(
        "Original 21: a page that wants a refresh is reported and not processed, whatever its id and more; others run")
    func refresh() async {
        let bench = await bench()
        bench.world.polls(.one, .page("a1", more: true, refresh: .everything))
        await bench.start()
        #expect(
            bench.world.journal(of: .one) == [
                "1: poll e0", "1: polled", "1: error outdated", "1: anchor", "1: fetch everything",
            ])
        #expect(bench.world.id(of: .one) == "anchor")
        #expect(bench.world.polled == ["core", "1", "2"])
    }

    @Test("Original 22: a failed poll of the core loop is reported, its id stays, the special loops run")
    func pollFailure() async {
        let bench = await bench()
        bench.world.polls(.core, .fail(SomeError()))
        await bench.start()
        #expect(bench.world.journal(of: .core) == ["core: poll e0", "core: error network"])
        #expect(bench.world.id(of: .core) == "e0")
        #expect(bench.world.polled == ["core", "1", "2"])
    }

    @Test("Original 23: a failed processing is reported, the id stays, others run")
    func processingFailure() async {
        let bench = await bench()
        bench.world.polls(.one, .page("a1"))
        bench.world.processes(.one, .fail(SomeError()))
        await bench.start()
        #expect(bench.world.journal(of: .one) == ["1: poll e0", "1: polled", "1: process a1", "1: error processing"])
        #expect(bench.world.id(of: .one) == "e0")
        #expect(bench.world.polled == ["core", "1", "2"])
    }

    @Test("Original 24: ten loops enabled at once are all enabled")
    func concurrentEnabling() async {
        let bench = await bench()
        await withTaskGroup(of: Void.self) { group in
            for number in 10..<20 {
                group.addTask { await bench.scheduler.enableSpecialLoop(.special("\(number)")) }
            }
        }
        #expect(await bench.scheduler.currentlyEnabled().special.count == 12)
    }

    /// Of the original's operations. Here nothing but a call under way belongs to one.
    @Test(
        "Original operation 1, 2: a scheduler that is released while a poll or a process is under way",
        arguments: [true, false])
    func released(inPoll: Bool) async {
        let world = World()
        let gate = Gate(isDeaf: true)
        world.polls(.core, .page("c1", gate: inPoll ? gate : nil))
        world.processes(.core, .well(inPoll ? nil : gate))
        weak var released: EventsPeriodicScheduler?
        do {
            let bench = Bench(world: world)
            released = bench.scheduler
            await bench.enable()
            await bench.start()
            #expect(world.blocked[.core] === gate)
        }
        await until { released == nil }
        gate.open()
        await until { world.blocked.isEmpty }
        #expect(world.id(of: .core) == "e0")
    }
}

struct SomeError: Error {}

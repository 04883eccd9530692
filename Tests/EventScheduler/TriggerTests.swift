import Model
import Testing

@testable import EventScheduler

/// Turns that are asked for by themselves, and what others see and do meanwhile.
@Suite(.timeLimit(.minutes(20))) struct TriggerTests {
    @Test("L22: the core loop, then the special one, run at once; what a cycle has left waits for the next tick")
    func trigger() async {
        let bench = Bench()
        await bench.enable(.one, .two, .three)
        let gate = Gate()
        bench.world.polls(.one, .page("a1", gate: gate))
        await bench.start()
        await bench.scheduler.triggerSpecialLoop(.two)
        await bench.quiet()
        #expect(bench.world.polled == ["core", "1", "core", "2"])
        #expect(bench.world.id(of: .one) == "e0")
        await bench.tick()
        #expect(bench.world.polled.suffix(4) == ["core", "1", "2", "3"])
    }

    @Test("L22: an unknown id runs the core loop alone; without a core loop the special one runs")
    func unknown() async {
        let bench = Bench()
        await bench.enable(.one)
        await bench.start()
        bench.world.clearJournal()
        await bench.scheduler.triggerSpecialLoop(.two)
        await bench.quiet()
        #expect(bench.world.polled == ["core"])

        let coreless = Bench()
        await coreless.enable(core: false, .one)
        await coreless.start()
        await coreless.scheduler.triggerSpecialLoop(.one)
        await coreless.quiet()
        #expect(coreless.world.polled == ["1", "1"])
    }

    @Test("L22: triggers do not drop each other, nor a page that is being applied")
    func triggersTogether() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        let gate = Gate()
        bench.world.polls(.core, .page("c1", more: true))
        bench.world.processes(.core, .well(gate))
        await bench.start()
        await bench.scheduler.triggerSpecialLoop(.one)
        await bench.scheduler.triggerSpecialLoop(.two)
        await bench.scheduler.triggerSpecialLoop(.one)
        gate.open()
        await bench.quiet()
        #expect(bench.world.id(of: .core) == "c1")
        #expect(bench.world.polled == ["core", "core", "1", "2"])
    }

    @Test("L23: what is enabled can be asked for while a poll runs")
    func currentlyEnabled() async {
        let bench = Bench()
        #expect(await bench.scheduler.currentlyEnabled() == EnabledLoops())
        await bench.enable(.two, .one)
        bench.world.polls(.core, .page("c1", gate: Gate(isDeaf: true)))
        await bench.start()
        #expect(bench.world.blocked[.core] != nil)
        #expect(await bench.scheduler.currentlyEnabled() == EnabledLoops(core: .core, special: [.two, .one]))
    }

    @Test("L24: a core page that says that a calendar is gone stops its loop in the same cycle")
    func stoppedByCore() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        bench.world.polls(.core, .page("c1", more: true), .page("stop 2", more: true), .page("stop 1"))
        bench.world.polls(.one, .page("a1", more: true), .page("a2", more: true), .page("a3", more: true))
        bench.world.polls(.two, .page("b1", more: true), .page("b2"))
        await bench.start()
        #expect(bench.world.polled == ["core", "1", "2", "core", "1", "core"])
        #expect(await bench.scheduler.currentlyEnabled().special.isEmpty)
    }
}

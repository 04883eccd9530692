import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests of the times and the order of refills.
@Suite(.timeLimit(.minutes(20))) struct RefillTests {
    @Test("L01: a new scheduler has no timer, no call and no loop")
    func idle() async {
        let fixture = SchedulerFixture()
        #expect(await fixture.scheduler.machine.armed == nil)
        #expect(fixture.script.made.isEmpty && fixture.clock.deadlines.isEmpty)
        await fixture.enable(.one)
        #expect(await fixture.scheduler.calls.isEmpty)
        #expect(fixture.clock.deadlines.isEmpty && fixture.script.journal.isEmpty)
    }

    @Test("L02, L03: the first refill comes with the start, then one each period, however often it is started")
    func start() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        await fixture.scheduler.start()
        #expect(fixture.script.journal.isEmpty)
        await fixture.scheduler.start()
        await fixture.pass(.zero)
        #expect(fixture.script.polled.count == 1)
        await fixture.scheduler.start()
        await fixture.pass(SchedulerFixture.period * 5)
        #expect(fixture.script.polled.count == 6)
        await until { fixture.clock.deadlines.count == 1 }
    }

    @Test("L04, L05: 21 loops run one at a time, the core loop first, then in the order of enabling")
    func order() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        for number in 1...20 {
            fixture.script.setID("e0", of: .special("\(number)"))
            await fixture.scheduler.enableSpecialLoop(.special("\(number)"))
        }
        await fixture.start()
        #expect(fixture.script.polled == ["core"] + (1...20).map(String.init))
        #expect(fixture.script.mostActive == 1)
        await fixture.scheduler.disableSpecialLoop(.special("3"))
        await fixture.scheduler.enableSpecialLoop(.special("3"))
        await fixture.scheduler.enableCoreLoop()
        fixture.script.clearJournal()
        await fixture.tick()
        let rest: [String] = (4...20).map(String.init)
        #expect(fixture.script.polled == ["core", "1", "2"] + rest + ["3"])
        #expect(fixture.script.mostActive == 1)
    }

    @Test(
        "A loop with an interval of its own is passed over until then; neither a trigger nor a start waits for it",
        arguments: [0.0, 0.5, 0.999])
    func interval(random: Double) async {
        let fixture = SchedulerFixture(
            script: LoopScript(intervals: [.one: SchedulerFixture.period * 3, .two: .seconds(1), .core: .seconds(1)]),
            random: { random })
        await fixture.enable(.one, .two)
        await fixture.start()
        await fixture.pass(SchedulerFixture.period * 9 + .seconds(15))
        func count(_ name: String) -> Int { fixture.script.polled.count { $0 == name } }
        #expect(count("core") == 10 && count("2") == 10 && count("1") == 4)
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.pass(.seconds(2))
        #expect(count("1") == 5)
        await fixture.scheduler.suspend()
        await fixture.start()
        #expect(count("1") == 6)
    }

    @Test("A loop with an interval of its own is polled no more often when it fails")
    func failingInterval() async {
        let fixture = SchedulerFixture(script: LoopScript(intervals: [.one: SchedulerFixture.period * 3]))
        await fixture.enable(.one)
        for _ in 0..<2 { fixture.script.polls(.one, .fail(.network)) }
        await fixture.start()
        await fixture.pass(SchedulerFixture.period * 2 + .seconds(15))
        #expect(fixture.script.polled.count { $0 == "1" } == 1)
        await fixture.tick()
        #expect(fixture.script.polled.count { $0 == "1" } == 2)
        await fixture.pass(SchedulerFixture.period * 3)
        #expect(fixture.script.polled.count { $0 == "1" } == 3)
    }

    @Test("A loop that a turn found has its first turn in the same cycle, and then one in each refill")
    func found() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.setID("e0", of: .two)
        fixture.script.polls(.core, .page("add 2"))
        await fixture.start()
        #expect(fixture.script.polled == ["core", "1", "2"])
        await fixture.tick()
        #expect(fixture.script.polled == ["core", "1", "2", "core", "1", "2"])
    }

    @Test("A loop that a turn found has no turn if it is removed before, or if the scheduler is suspended")
    func foundInVain() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.core, .page("add 2"))
        fixture.script.polls(.one, .page("stop 2"))
        await fixture.start()
        await fixture.scheduler.suspend()
        await fixture.scheduler.delegate.enableSpecialLoop(.three)
        await fixture.quiet()
        #expect(fixture.script.polled == ["core", "1"])
        #expect(fixture.script.journal(of: .three).isEmpty)
    }

    @Test("L06: a cycle of three periods drops their ticks, and one refill follows")
    func busy() async {
        let fixture = SchedulerFixture(script: LoopScript(limits: LoopLimits(polling: .seconds(600))))
        await fixture.enable(.one)
        let gate = Gate()
        fixture.script.polls(.core, .page("c1", gate: gate))
        await fixture.start()
        await fixture.pass(SchedulerFixture.period * 3 + .seconds(10))
        gate.open()
        await fixture.quiet()
        #expect(fixture.script.polled == ["core", "1"])
        await fixture.pass(.seconds(50))
        #expect(fixture.script.polled == ["core", "1", "core", "1"])
    }

    @Test("L28: a hundred hosts that start together do not stay together")
    func jitter() {
        var seconds: [Double] = []
        for host in UInt64(0)..<100 {
            var generator = SeededGenerator(seed: host)
            let random = Double.random(in: 0..<1, using: &generator)
            var machine = SchedulerMachine(period: SchedulerFixture.period, grace: .seconds(5), random: { random })
            _ = machine.enable(.core, limits: LoopLimits(), isCore: true, at: .zero)
            _ = machine.start(at: .zero)
            #expect(machine.nextTick == .zero)
            _ = machine.wake(at: .zero)
            seconds.append(machine.nextTick / .seconds(1))
        }
        #expect(seconds.allSatisfy { (48...72).contains($0) })
        #expect((seconds.max() ?? 0) - (seconds.min() ?? 0) >= 18)
    }

    @Test("L28: refills come early or late, not more or less often", arguments: [0.0, 0.25, 0.999])
    func jitterKeepsCount(random: Double) async {
        let fixture = SchedulerFixture(random: { random })
        await fixture.enable()
        await fixture.start()
        await fixture.pass(SchedulerFixture.period * 10 + .seconds(15))
        #expect(fixture.script.polled.count == 11)
    }

    @Test("L29: hours of refills are waited for by nobody")
    func hours() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        await fixture.start()
        await fixture.pass(.seconds(7200))
        #expect(fixture.script.polled.count == 121)
    }

    @Test("A host that slept through many refills makes one, at once")
    func slept() {
        var machine = SchedulerMachine(period: SchedulerFixture.period, grace: .seconds(5), random: { 0.5 })
        _ = machine.start(at: .zero)
        _ = machine.wake(at: .zero)
        _ = machine.enable(.core, limits: LoopLimits(), isCore: true, at: .zero)
        let effects = machine.wake(at: .seconds(86_410))
        #expect(effects.contains { if case .run = $0 { true } else { false } })
        #expect(machine.nextTick == .seconds(86_460))
    }
}

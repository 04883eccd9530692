import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests of turns that are requested one by one, and of what other loops and callers do meanwhile.
@Suite(.timeLimit(.minutes(20))) struct TriggerTests {
    @Test("L22 L35: the core loop, then the special one, run before all that waits; what runs and waits is not dropped")
    func trigger() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two, .three)
        let gate = Gate()
        fixture.script.polls(.one, .page("a1", gate: gate))
        await fixture.start()
        await fixture.scheduler.triggerSpecialLoop(.three)
        await fixture.quiet()
        #expect(fixture.script.polled == ["core", "1"])
        gate.open()
        await fixture.quiet()
        #expect(fixture.script.polled == ["core", "1", "core", "3", "2"])
        #expect(fixture.script.id(of: .one) == "a1")
        await fixture.tick()
        #expect(fixture.script.polled.suffix(4) == ["core", "1", "2", "3"])
    }

    @Test("L35: triggers that come often are gathered: the first is heeded at once, the others together a second later")
    func gathered() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        await fixture.start()
        fixture.script.clearJournal()
        for _ in 0..<3 {
            await fixture.scheduler.triggerSpecialLoop(.one)
            await fixture.scheduler.triggerSpecialLoop(.two)
            await fixture.quiet()
        }
        // The trigger of the second loop came when the first trigger had been carried out.
        #expect(fixture.script.polled == ["core", "1"])
        await fixture.pass(.milliseconds(999))
        #expect(fixture.script.polled == ["core", "1"])
        await fixture.pass(.milliseconds(1))
        #expect(fixture.script.polled == ["core", "1", "core", "2", "1"])
        await fixture.pass(.seconds(10))
        #expect(fixture.script.polled.count == 5)
        // Triggers that a suspension dropped are not carried out later.
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.scheduler.suspend()
        await fixture.pass(.seconds(10))
        #expect(fixture.script.polled.count <= 7)
    }

    /// The durations of calls in milliseconds.
    struct Lengths: Sendable {
        var core: Int
        var share: Int
        var calendar: Int
    }

    @Test(
        "L35 O08: under a hint every 200 ms calendars are polled within two periods, and each hint is heeded within a second",
        arguments: [
            Lengths(core: 1, share: 1, calendar: 1), Lengths(core: 150, share: 100, calendar: 50),
            Lengths(core: 2000, share: 100, calendar: 100),
        ])
    func hints(_ lengths: Lengths) throws {
        var machine = SchedulerMachine(period: .seconds(60), grace: .seconds(5), random: { 0.5 })
        let calendars = (0..<100).map { LoopKey(kind: LoopKind("calendar"), id: LoopID("\($0)")) }
        let share = LoopKey(kind: LoopKind("share"), id: LoopID("1"))
        var (timer, ends): (Duration?, (operation: UInt64, at: Duration)?) = (nil, nil)
        var begun: [LoopKey: [Duration]] = [:]
        func carryOut(_ effects: [SchedulerMachine.Effect], at now: Duration) {
            for effect in effects {
                switch effect {
                case .run(let operation):
                    begun[operation.loop, default: []].append(now)
                    let length =
                        operation.loop == .core
                        ? lengths.core : operation.loop == share ? lengths.share : lengths.calendar
                    ends = (operation.id, now + .milliseconds(length))
                case .setTimer(let time): timer = time
                case .cancel: Issue.record("Something is given up.")
                case .report: break
                }
            }
        }
        _ = machine.enable(.core, limits: LoopLimits(), isCore: true, at: .zero)
        for key in calendars + [share] { _ = machine.enable(key, limits: LoopLimits(), isCore: false, at: .zero) }
        carryOut(machine.start(at: .zero), at: .zero)
        var hint = Duration.milliseconds(100)
        var heeded: [Duration] = []
        let end = Duration.seconds(600)
        while true {
            let now = [hint, timer, ends?.at].compactMap(\.self).min() ?? end
            guard now < end else { break }
            if let done = ends, done.at == now {
                ends = nil
                carryOut(machine.finished(done.operation, TurnOutcome(result: .ok), at: now), at: now)
            } else if timer == now {
                timer = nil
                carryOut(machine.wake(at: now), at: now)
            } else {
                heeded.append(now)
                hint = now + .milliseconds(200)
                carryOut(machine.trigger(special: share, at: now), at: now)
            }
        }
        for key in calendars {
            let times: [Duration] = [.zero] + (begun[key] ?? []) + [end]
            let longest = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? end
            #expect(longest <= .seconds(120), "\(key)")
        }
        // A trigger may also wait for a batch that is under way and for a pause of the same length.
        let batch = Duration.milliseconds(lengths.core + lengths.share)
        let patience = max(.seconds(1), batch * 2) + .milliseconds(lengths.calendar + lengths.core)
        for key in [LoopKey.core, share] {
            let times = try #require(begun[key])
            #expect(times.count <= 600 + 11)
            for time in heeded where time + patience < end {
                #expect(times.contains { $0 >= time && $0 <= time + patience }, "\(key) at \(time)")
            }
        }
    }

    @Test("L22: an unknown id runs the core loop alone; without a core loop the special one runs")
    func unknown() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        await fixture.start()
        fixture.script.clearJournal()
        await fixture.scheduler.triggerSpecialLoop(.two)
        await fixture.quiet()
        #expect(fixture.script.polled == ["core"])

        let coreless = SchedulerFixture()
        await coreless.enable(core: false, .one)
        await coreless.start()
        await coreless.scheduler.triggerSpecialLoop(.one)
        await coreless.quiet()
        #expect(coreless.script.polled == ["1", "1"])
    }

    @Test("L22 L35: triggers do not drop each other, nor a page that is being applied and what follows it")
    func triggersTogether() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        let gate = Gate()
        fixture.script.polls(.core, .page("c1", more: true))
        fixture.script.processes(.core, .well(gate))
        await fixture.start()
        await fixture.scheduler.triggerSpecialLoop(.one)
        await fixture.scheduler.triggerSpecialLoop(.two)
        await fixture.scheduler.triggerSpecialLoop(.one)
        gate.open()
        await fixture.quiet()
        #expect(fixture.script.id(of: .core) == "c1")
        #expect(fixture.script.polled == ["core", "core", "1", "2", "core"])
    }

    @Test("L23: what is enabled can be asked for while a poll runs")
    func currentlyEnabled() async {
        let fixture = SchedulerFixture()
        #expect(await fixture.scheduler.currentlyEnabled() == EnabledLoops())
        await fixture.enable(.two, .one)
        fixture.script.polls(.core, .page("c1", gate: Gate(ignoresCancellation: true)))
        await fixture.start()
        #expect(fixture.script.blocked[.core] != nil)
        #expect(await fixture.scheduler.currentlyEnabled() == EnabledLoops(core: .core, special: [.two, .one]))
    }

    @Test("L24: a core page that says that a calendar is gone stops its loop in the same cycle")
    func stoppedByCore() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        fixture.script.polls(.core, .page("c1", more: true), .page("stop 2", more: true), .page("stop 1"))
        fixture.script.polls(.one, .page("a1", more: true), .page("a2", more: true), .page("a3", more: true))
        fixture.script.polls(.two, .page("b1", more: true), .page("b2"))
        await fixture.start()
        #expect(fixture.script.polled == ["core", "1", "2", "core", "1", "core"])
        #expect(await fixture.scheduler.currentlyEnabled().special.isEmpty)
    }
}

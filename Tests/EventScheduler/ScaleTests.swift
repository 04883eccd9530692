import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests of many loops and of many tasks that use a scheduler at once.
@Suite(.timeLimit(.minutes(20))) struct ScaleTests {
    @Test("A thousand loops have one timer and one call between them, and a refill polls each once")
    func thousandLoops() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        for number in 1...1000 {
            fixture.script.setID("e0", of: .special("\(number)"))
            await fixture.scheduler.enableSpecialLoop(.special("\(number)"))
        }
        #expect(await fixture.scheduler.calls.isEmpty && fixture.clock.deadlines.isEmpty)
        let gate = Gate()
        fixture.script.polls(.core, .page("c1", gate: gate))
        await fixture.start()
        #expect(await fixture.scheduler.calls.count == 1)
        #expect(fixture.clock.deadlines.count == 1)
        gate.open()
        await fixture.quiet()
        #expect(fixture.script.polled == ["core"] + (1...1000).map(String.init))
        #expect(fixture.script.mostActive == 1)
        #expect(await fixture.scheduler.calls.isEmpty)
        #expect(fixture.clock.monotonic == .zero)
    }

    @Test("L21: ten thousand calls at once to enable, disable and trigger leave a scheduler that works")
    func concurrentCalls() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        await fixture.start()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<100 {
                group.addTask {
                    for number in 0..<100 {
                        let loop = LoopKey.special("\((worker + number) % 20)")
                        switch (worker + number * 7) % 5 {
                        case 0: await fixture.scheduler.enableSpecialLoop(loop)
                        case 1: await fixture.scheduler.disableSpecialLoop(loop)
                        case 2: await fixture.scheduler.triggerSpecialLoop(loop)
                        case 3: await fixture.scheduler.triggerCoreLoop()
                        default: _ = await fixture.scheduler.currentlyEnabled()
                        }
                    }
                }
            }
        }
        await fixture.quiet()
        for number in 0..<20 { await fixture.scheduler.enableSpecialLoop(.special("\(number)")) }
        fixture.script.clearJournal()
        await fixture.tick()
        #expect(fixture.script.mostActive == 1)
        #expect(
            Set(fixture.script.journal.map { String($0.prefix { $0 != ":" }) })
                == Set(["core"] + (0..<20).map(String.init)))
        #expect(await fixture.scheduler.calls.isEmpty)
    }
}

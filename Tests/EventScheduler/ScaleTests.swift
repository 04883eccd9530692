import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Many loops, and many who use a scheduler at once.
@Suite(.timeLimit(.minutes(20))) struct ScaleTests {
    @Test("A thousand loops have one timer and one call between them, and a refill polls each once")
    func thousandLoops() async {
        let bench = Bench()
        await bench.enable()
        for number in 1...1000 {
            bench.world.setID("e0", of: .special("\(number)"))
            await bench.scheduler.enableSpecialLoop(.special("\(number)"))
        }
        #expect(await bench.scheduler.calls.isEmpty && bench.clock.deadlines.isEmpty)
        let gate = Gate()
        bench.world.polls(.core, .page("c1", gate: gate))
        await bench.start()
        #expect(await bench.scheduler.calls.count == 1)
        #expect(bench.clock.deadlines.count == 1)
        gate.open()
        await bench.quiet()
        #expect(bench.world.polled == ["core"] + (1...1000).map(String.init))
        #expect(bench.world.mostActive == 1)
        #expect(await bench.scheduler.calls.isEmpty)
        #expect(bench.clock.now == .zero)
    }

    @Test("L21: ten thousand calls at once to enable, disable and trigger leave a scheduler that works")
    func concurrentCalls() async {
        let bench = Bench()
        await bench.enable()
        await bench.start()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<100 {
                group.addTask {
                    for number in 0..<100 {
                        let loop = LoopKey.special("\((worker + number) % 20)")
                        switch (worker + number * 7) % 5 {
                        case 0: await bench.scheduler.enableSpecialLoop(loop)
                        case 1: await bench.scheduler.disableSpecialLoop(loop)
                        case 2: await bench.scheduler.triggerSpecialLoop(loop)
                        case 3: await bench.scheduler.triggerCoreLoop()
                        default: _ = await bench.scheduler.currentlyEnabled()
                        }
                    }
                }
            }
        }
        await bench.quiet()
        for number in 0..<20 { await bench.scheduler.enableSpecialLoop(.special("\(number)")) }
        bench.world.clearJournal()
        await bench.tick()
        #expect(bench.world.mostActive == 1)
        #expect(
            Set(bench.world.journal.map { String($0.prefix { $0 != ":" }) })
                == Set(["core"] + (0..<20).map(String.init)))
        #expect(await bench.scheduler.calls.isEmpty)
    }
}

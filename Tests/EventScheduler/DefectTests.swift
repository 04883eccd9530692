import Model
import TestSupport
import Testing

@testable import EventScheduler

/// What is wrong in the original is not so here.
@Suite(.timeLimit(.minutes(20))) struct DefectTests {
    @Test("Defect 1: a second start makes no second timer")
    func doubleStart() async {
        let bench = Bench()
        await bench.enable()
        await bench.scheduler.start()
        await bench.start()
        await bench.tick()
        #expect(bench.world.polled.count == 2)
        await until { bench.clock.deadlines.count == 1 }
    }

    @Test("Defect 2: the timer does not hold the scheduler, nor does the core loop, and it ends with it")
    func release() async {
        let clock: ManualClock
        weak var released: EventsPeriodicScheduler?
        do {
            let bench = Bench()
            clock = bench.clock
            released = bench.scheduler
            await bench.enable()
            await bench.start()
            await until { !clock.deadlines.isEmpty }
        }
        await until { released == nil && clock.deadlines.isEmpty }
    }

    @Test("Defect 3: after logout and another's login, the old core loop is not polled")
    func switchedUser() async {
        let bench = Bench()
        await bench.enable()
        await bench.start()
        await bench.scheduler.logout {}
        let other = LoopKey(kind: .core, id: LoopID("grace"))
        bench.world.setID("g0", of: other)
        await bench.scheduler.enableCoreLoop(other)
        bench.world.clearJournal()
        await bench.start()
        #expect(bench.world.polled == ["grace"])
    }

    @Test("Defect 4: no two loops share a place in the order")
    func order() async {
        let bench = Bench()
        await bench.enable(.one, .two)
        await bench.scheduler.disableSpecialLoop(.one)
        await bench.scheduler.enableSpecialLoop(.three)
        await bench.scheduler.enableSpecialLoop(.one)
        #expect(await bench.scheduler.currentlyEnabled().special == [.two, .three, .one])
        let orders = await bench.scheduler.machine.entries.values.map(\.order)
        #expect(Set(orders).count == 4)
    }

    @Test(
        "Defect 5: a loop that is disabled, or whose scheduler is suspended, while it processes does not come back",
        arguments: [true, false], [true, false])
    func resurrection(byDisabling: Bool, storesAnyway: Bool) async {
        let bench = Bench()
        await bench.enable(.one)
        let gate = Gate(isDeaf: true)
        bench.world.polls(.one, .page("a1", more: true))
        bench.world.processes(.one, .well(gate, storesAnyway: storesAnyway))
        await bench.start()
        async let stopped: Void =
            byDisabling ? bench.scheduler.disableSpecialLoop(.one) : bench.scheduler.suspend()
        await until { await bench.scheduler.machine.running?.state == .cancelled }
        gate.open()
        await stopped
        await until { await bench.scheduler.calls.isEmpty }
        #expect(await bench.scheduler.machine.queue.isEmpty)
        #expect(bench.world.id(of: .one) == (storesAnyway ? "a1" : "e0"))
        #expect(bench.world.reports.map(\.loop) == [.core])
        await bench.tick()
        #expect(bench.world.polled.filter { $0 == "1" }.count == 1)
    }

    @Test("Defect 6: a loop that was replaced is not polled from the queue")
    func replaced() async {
        let bench = Bench()
        await bench.enable(.one)
        let gate = Gate()
        bench.world.polls(.core, .page("c1", gate: gate))
        await bench.start()
        await bench.scheduler.enableSpecialLoop(.one)
        gate.open()
        await bench.quiet()
        #expect(bench.world.pollers == [0])
        await bench.tick()
        #expect(bench.world.pollers == [0, 0, 2])
    }

    @Test("Defect 7: a refresh of 3 reaches both handlers")
    func bothHandlers() async {
        let bench = Bench(world: World(refreshHandlers: [Refresh(number: 1), Refresh(number: 2)]))
        await bench.enable()
        bench.world.polls(.core, .page("c1", refresh: Refresh(number: 3)))
        await bench.start()
        #expect(bench.world.journal.suffix(2) == ["core: fetch 1", "core: fetch 2"])
    }

    @Test("Defect 8: a refresh does not repeat for ever: the next poll is from the new anchor")
    func reanchored() async {
        let bench = Bench()
        await bench.enable()
        bench.world.polls(.core, .page("c1", refresh: .everything))
        await bench.start()
        await bench.tick()
        #expect(bench.world.journal.filter { $0.contains("poll ") } == ["core: poll e0", "core: poll anchor"])
    }

    @Test(
        "Defect 9: any more above 0 is one",
        arguments: [(2, true), (1, true), (0, false), (-1, false)] as [(Int64, Bool)])
    func more(number: Int64, isMore: Bool) {
        #expect(EventsPage(eventID: EventID("a"), refresh: 0, more: number, payload: ()).more == isMore)
    }

    @Test("Defect 10: an empty event id in a page or an anchor is an error and not stored")
    func emptyID() async {
        let bench = Bench()
        await bench.enable()
        bench.world.polls(.core, .page(""))
        await bench.start()
        #expect(bench.world.journal == ["core: poll e0", "core: polled", "core: error badPage"])
        #expect(bench.world.id(of: .core) == "e0")
        let plain = PlainLoop(anchor: "")
        await #expect(throws: EventLoopError.self) { try await plain.refresh(.everything) }
        #expect(plain.journal == ["anchor"])
    }

    @Test("Defect 11: a poll that hangs does not hold up the others")
    func hungPoll() async {
        let bench = Bench()
        await bench.enable(.one)
        let gate = Gate(isDeaf: true)
        bench.world.polls(.core, .page("c1", gate: gate))
        await bench.start()
        await bench.pass(.seconds(65))
        #expect(bench.world.polled == ["core", "1"])
        gate.open()
    }

    @Test("Defect 12: a turn that never ends does not end the polling")
    func endlessTurn() async {
        let bench = Bench(world: World(limits: LoopLimits(processing: .seconds(300))))
        await bench.enable(.one)
        let gate = Gate(isDeaf: true)
        bench.world.processes(.core, .well(gate))
        await bench.start()
        await bench.pass(.seconds(420))
        #expect(bench.world.reports.first?.error?.kind == .overdue)
        #expect(bench.world.polled.filter { $0 == "1" }.count == 3)
        gate.open()
    }

    @Test("Defect 13: one scheduler polls loops of several types, each with pages of its own")
    func types() async {
        let world = World()
        let plain = PlainLoop(anchor: "a0")
        let clock = ManualClock()
        let scheduler = EventsPeriodicScheduler(
            clock: clock.host, core: { ScriptedLoop($0, world, $1) },
            special: { $0 == plain.loopID ? plain : $0 == .three ? nil : ScriptedLoop($0, world, $1) })
        await scheduler.enableSpecialLoop(.one)
        await scheduler.enableSpecialLoop(plain.loopID)
        #expect(await scheduler.enableSpecialLoop(.three) == false)
        await scheduler.runOnce()
        #expect(world.journal(of: .one).last == "1: fetch everything")
        #expect(plain.journal == ["error missingEventID", "anchor", "fetch", "set a0"])
    }

    @Test("Defect 14: the anchor is taken before anything is fetched")
    func anchorFirst() async throws {
        let plain = PlainLoop(anchor: "a0")
        #expect(try await plain.refresh(.everything) == .anchored(at: EventID("a0"), more: false))
        #expect(plain.journal == ["anchor", "fetch", "set a0"])
        try await plain.process(EventsPage(eventID: EventID("a1"), payload: 7), advancingTo: EventID("a1"))
        #expect(plain.journal.suffix(2) == ["process 7", "set a1"])
    }

    @Test("Defect 15: without handlers any refresh above 0 fetches everything", arguments: [1, 2, 3, 255] as [Int64])
    func anyRefresh(number: Int64) async {
        let bench = Bench()
        await bench.enable()
        bench.world.polls(.core, .page("c1", refresh: Refresh(number: number)))
        await bench.start()
        #expect(bench.world.journal.last == "core: fetch everything")
    }
}

import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests that the original's defects do not occur in this scheduler.
@Suite(.timeLimit(.minutes(20))) struct DefectTests {
    @Test("Defect 1: a second start makes no second timer")
    func doubleStart() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        await fixture.scheduler.start()
        await fixture.start()
        await fixture.tick()
        #expect(fixture.script.polled.count == 2)
        await until { fixture.clock.deadlines.count == 1 }
    }

    @Test("Defect 2: the timer does not hold the scheduler, nor does the core loop, and it ends with it")
    func release() async {
        let clock: TestClock
        weak var released: EventsPeriodicScheduler?
        do {
            let fixture = SchedulerFixture()
            clock = fixture.clock
            released = fixture.scheduler
            await fixture.enable()
            await fixture.start()
            await until { !clock.deadlines.isEmpty }
        }
        await until { released == nil && clock.deadlines.isEmpty }
    }

    @Test("Defect 3: after logout and another's login, the old core loop is not polled")
    func switchedUser() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        await fixture.start()
        await fixture.scheduler.logout {}
        let other = LoopKey(kind: .core, id: LoopID("grace"))
        fixture.script.setID("g0", of: other)
        await fixture.scheduler.enableCoreLoop(other)
        fixture.script.clearJournal()
        await fixture.start()
        #expect(fixture.script.polled == ["grace"])
    }

    @Test("Defect 4: no two loops share a place in the order")
    func order() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        await fixture.scheduler.disableSpecialLoop(.one)
        await fixture.scheduler.enableSpecialLoop(.three)
        await fixture.scheduler.enableSpecialLoop(.one)
        #expect(await fixture.scheduler.currentlyEnabled().special == [.two, .three, .one])
        let orders = await fixture.scheduler.machine.entries.values.map(\.order)
        #expect(Set(orders).count == 4)
    }

    @Test(
        "Defect 5: a loop that is disabled, or whose scheduler is suspended, while it processes does not come back",
        arguments: [true, false], [true, false])
    func resurrection(byDisabling: Bool, storesAnyway: Bool) async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        let gate = Gate(ignoresCancellation: true)
        fixture.script.polls(.one, .page("a1", more: true))
        fixture.script.processes(.one, .well(gate, storesAnyway: storesAnyway))
        await fixture.start()
        async let stopped: Void =
            byDisabling ? fixture.scheduler.disableSpecialLoop(.one) : fixture.scheduler.suspend()
        await until { await fixture.scheduler.machine.running?.state == .cancelled }
        gate.open()
        await stopped
        await until { await fixture.scheduler.calls.isEmpty }
        #expect(await fixture.scheduler.machine.queue.isEmpty)
        #expect(fixture.script.id(of: .one) == (storesAnyway ? "a1" : "e0"))
        #expect(fixture.script.reports.map(\.loop) == [.core])
        await fixture.tick()
        #expect(fixture.script.polled.filter { $0 == "1" }.count == 1)
    }

    @Test("Defect 6: a loop that was replaced is not polled from the queue")
    func replaced() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        let gate = Gate()
        fixture.script.polls(.core, .page("c1", gate: gate))
        await fixture.start()
        await fixture.scheduler.enableSpecialLoop(.one)
        gate.open()
        await fixture.quiet()
        #expect(fixture.script.pollers == [0])
        await fixture.tick()
        #expect(fixture.script.pollers == [0, 0, 2])
    }

    @Test("Defect 7: a refresh of 3 reaches both handlers")
    func bothHandlers() async {
        let fixture = SchedulerFixture(script: LoopScript(refreshHandlers: [Refresh(number: 1), Refresh(number: 2)]))
        await fixture.enable()
        fixture.script.polls(.core, .page("c1", refresh: Refresh(number: 3)))
        await fixture.start()
        #expect(fixture.script.journal.suffix(2) == ["core: fetch 1", "core: fetch 2"])
    }

    @Test("Defect 8: a refresh does not repeat for ever: the next poll is from the new anchor")
    func reanchored() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.polls(.core, .page("c1", refresh: .everything))
        await fixture.start()
        await fixture.tick()
        #expect(fixture.script.journal.filter { $0.contains("poll ") } == ["core: poll e0", "core: poll anchor"])
    }

    @Test(
        "Defect 9: any more above 0 is one",
        arguments: [(2, true), (1, true), (0, false), (-1, false)] as [(Int64, Bool)])
    func more(number: Int64, isMore: Bool) {
        #expect(EventsPage(eventID: EventID("a"), refresh: 0, more: number, payload: ()).more == isMore)
    }

    @Test("Defect 10: an empty event id in a page or an anchor is an error and not stored")
    func emptyID() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.polls(.core, .page(""))
        await fixture.start()
        #expect(fixture.script.journal == ["core: poll e0", "core: polled", "core: error badPage"])
        #expect(fixture.script.id(of: .core) == "e0")
        let plain = PlainLoop(anchor: "")
        await #expect(throws: EventLoopError.self) { try await plain.refresh(.everything) }
        #expect(plain.journal == ["anchor"])
    }

    @Test("Defect 11: a poll that hangs does not hold up the others")
    func hungPoll() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        let gate = Gate(ignoresCancellation: true)
        fixture.script.polls(.core, .page("c1", gate: gate))
        await fixture.start()
        await fixture.pass(.seconds(65))
        #expect(fixture.script.polled == ["core", "1"])
        gate.open()
    }

    @Test("Defect 12: a turn that never ends does not end the polling")
    func endlessTurn() async {
        let fixture = SchedulerFixture(script: LoopScript(limits: LoopLimits(processing: .seconds(300))))
        await fixture.enable(.one)
        let gate = Gate(ignoresCancellation: true)
        fixture.script.processes(.core, .well(gate))
        await fixture.start()
        await fixture.pass(.seconds(420))
        #expect(fixture.script.reports.first?.error?.kind == .overdue)
        #expect(fixture.script.polled.filter { $0 == "1" }.count == 3)
        gate.open()
    }

    @Test("Defect 13: one scheduler polls loops of several types, each with pages of its own")
    func types() async {
        let script = LoopScript()
        let plain = PlainLoop(anchor: "a0")
        let clock = TestClock()
        let scheduler = EventsPeriodicScheduler(
            clock: clock.host, core: { ScriptedLoop($0, script, $1) },
            special: { $0 == plain.loopID ? plain : $0 == .three ? nil : ScriptedLoop($0, script, $1) })
        await scheduler.enableSpecialLoop(.one)
        await scheduler.enableSpecialLoop(plain.loopID)
        #expect(await scheduler.enableSpecialLoop(.three) == false)
        await scheduler.runOnce()
        #expect(script.journal(of: .one).last == "1: fetch everything")
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
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.polls(.core, .page("c1", refresh: Refresh(number: number)))
        await fixture.start()
        #expect(fixture.script.journal.last == "core: fetch everything")
    }
}

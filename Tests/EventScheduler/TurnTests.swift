import Model
import TestSupport
import Testing

@testable import EventScheduler

/// Tests of one turn of a loop.
@Suite(.timeLimit(.minutes(20))) struct TurnTests {
    @Test("L07: the event id is read when the turn comes, not when it is queued")
    func idAtExecution() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        let gate = Gate()
        fixture.script.polls(.core, .page("c1", gate: gate))
        await fixture.start()
        #expect(await fixture.scheduler.machine.queue.map(\.loop) == [.one])
        fixture.script.setID("e9", of: .one)
        gate.open()
        await fixture.quiet()
        #expect(fixture.script.journal(of: .one).first == "1: poll e9")
    }

    @Test("L08: a missing id is reported, and everything fetched in the same turn, the anchor first")
    func missing() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.setID(nil, of: .core)
        fixture.script.refreshes(.core, .page("a1", more: true))
        await fixture.start()
        #expect(
            fixture.script.journal == [
                "core: error missingEventID", "core: anchor", "core: fetch everything",
                "1: poll e0", "1: polled", "1: process e0", "1: processed",
                "core: poll a1", "core: polled", "core: process a1", "core: processed",
            ])
        #expect(fixture.script.reports.map(\.result) == [.more, .ok, .ok])
        #expect(fixture.script.reports[0].idBefore == nil && fixture.script.reports[0].idAfter == EventID("a1"))
    }

    @Test("L08: a refresh that fails leaves the id missing, and comes again at the next tick")
    func missingAndFailing() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.setID(nil, of: .core)
        fixture.script.refreshes(.core, .fail(SomeError()))
        await fixture.start()
        #expect(fixture.script.id(of: .core) == nil)
        #expect(fixture.script.journal.last == "core: error refreshing")
        await fixture.tick()
        #expect(fixture.script.id(of: .core) == "anchor")
    }

    @Test("L09: a failed poll is reported with its cause, the id stays, the cycle goes on")
    func pollError() async throws {
        let fixture = SchedulerFixture()
        await fixture.enable(.one)
        fixture.script.polls(.core, .fail(SomeError()))
        await fixture.start()
        let report = try #require(fixture.script.reports.first)
        #expect(report.result == .error && report.error?.kind == .network && report.error?.cause is SomeError)
        #expect(report.idAfter == EventID("e0") && fixture.script.id(of: .core) == "e0")
        #expect(fixture.script.polled == ["core", "1"])
    }

    @Test("L10: a refresh takes the anchor, then fetches, once; the page's id is not used")
    func refresh() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.polls(.core, .page("c1", refresh: Refresh(true)))
        await fixture.start()
        #expect(fixture.script.journal.suffix(3) == ["core: error outdated", "core: anchor", "core: fetch everything"])
        #expect(fixture.script.id(of: .core) == "anchor")
        #expect(fixture.script.reports.map(\.result) == [.refresh] && fixture.script.reports[0].hasRefreshed)
    }

    @Test("L10: a server that wants everything fetched again after it was is not followed before the next tick")
    func refreshRepeated() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.polls(
            .core, .page("c1", refresh: .everything), .page("c2", refresh: .everything),
            .page("c3", refresh: .everything))
        fixture.script.refreshes(.core, .page("a1", more: true))
        await fixture.start()
        #expect(fixture.script.journal.filter { $0 == "core: anchor" }.count == 1)
        #expect(fixture.script.reports.map(\.error?.kind) == [nil, .badPage])
        await fixture.tick()
        #expect(fixture.script.journal.filter { $0 == "core: anchor" }.count == 2)
    }

    // spec: L11
    @Test(
        "L11: each bit has its handlers fetch once, in the loop's order; without a handler for it, all is fetched",
        arguments: [
            (0x01, [1]), (0x02, [2]), (0x03, [1, 2]), (0xff, [1, 2, 0x0c]), (0x04, [0x0c]), (0x0c, [0x0c]),
            (0x10, nil), (0x11, nil), (-1, nil), (0x100, nil),
        ] as [(Int64, [Int64]?)])
    func handlers(number: Int64, parts: [Int64]?) {
        let plan = parts.map { RefreshPlan.parts($0.map { Refresh(number: $0) }) } ?? .everything
        #expect(Refresh(number: number).plan(handlers: [1, 2, 0x0c].map { Refresh(number: $0) }) == plan)
        #expect(Refresh(number: number).plan(handlers: []) == .everything)
    }

    @Test(
        "L11: 3, 255 and true have every handler of the loop fetch once",
        arguments: [Refresh(number: 3), Refresh(number: 255), Refresh(true)])
    func handlersRun(refresh: Refresh) async {
        let fixture = SchedulerFixture(script: LoopScript(refreshHandlers: [Refresh(number: 1), Refresh(number: 2)]))
        await fixture.enable()
        fixture.script.polls(.core, .page("c1", refresh: refresh))
        await fixture.start()
        #expect(fixture.script.journal.suffix(3) == ["core: anchor", "core: fetch 1", "core: fetch 2"])
    }

    @Test("L12: a page that could not be applied comes again at the next tick")
    func processError() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.polls(.core, .page("c1", more: true), .page("c1"))
        fixture.script.processes(.core, .fail(SomeError()))
        await fixture.start()
        #expect(fixture.script.id(of: .core) == "e0")
        #expect(fixture.script.polled.count == 1)
        await fixture.tick()
        #expect(
            fixture.script.journal.suffix(4) == [
                "core: poll e0", "core: polled", "core: process c1", "core: processed",
            ])
        #expect(fixture.script.id(of: .core) == "c1")
    }

    @Test("L14: the next page comes before the next tick, behind the first pages of others")
    func more() async {
        let fixture = SchedulerFixture()
        await fixture.enable(.one, .two)
        fixture.script.polls(.core, .page("c1", more: true), .page("c2", more: true), .page("c3"))
        fixture.script.polls(.one, .page("a1", more: true), .page("a2"))
        await fixture.start()
        #expect(fixture.script.polled == ["core", "1", "2", "core", "1", "core"])
        #expect(fixture.script.reports.map(\.nextPollIn?.components.seconds) == [0, 0, 60, 0, 60, 60])
    }

    @Test("L15: more with the same id is asked once more, and then an error")
    func stalled() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        fixture.script.polls(.core, .page("e0", more: true), .page("e0", more: true), .page("e0", more: true))
        await fixture.start()
        #expect(fixture.script.polled.count == 2)
        #expect(fixture.script.reports.map(\.error?.kind) == [nil, .noProgress])
        #expect(fixture.script.journal.last == "core: error noProgress")
    }

    @Test("L15: a loop is given fifty pages in a row, and the rest from the next tick on")
    func fiftyPages() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        for number in 1...70 { fixture.script.polls(.core, .page("c\(number)", more: number < 70)) }
        await fixture.start()
        #expect(fixture.script.polled.count == 50 && fixture.script.id(of: .core) == "c50")
        await fixture.tick()
        #expect(fixture.script.polled.count == 70 && fixture.script.id(of: .core) == "c70")
        #expect(fixture.script.reports.allSatisfy { $0.error == nil })
    }

    @Test(
        "L25: a loop that is enabled for what another has stored begins by fetching everything with an anchor of its own"
    )
    func localFirst() async {
        let fixture = SchedulerFixture()
        await fixture.enable()
        // Storage makes the same call when the core loop's row for the calendar is committed.
        let scheduler = fixture.scheduler
        fixture.script.processes(.core, .well(during: { await scheduler.enableSpecialLoop(.one) }))
        await fixture.start()
        #expect(fixture.script.polled == ["core"])
        await fixture.tick()
        #expect(fixture.script.journal(of: .one) == ["1: error missingEventID", "1: anchor", "1: fetch everything"])
        await fixture.tick()
        #expect(fixture.script.journal(of: .one).last == "1: processed")
    }
}

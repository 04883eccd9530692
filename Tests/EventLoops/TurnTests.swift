import Database
import EventScheduler
import Logging
import Model
import PluginHost
import TestServer
import TestSupport
import Testing

@testable import EventLoops

/// Tests of turns of a loop in C: which functions are called, and what is committed and what is not.
@Suite struct TurnTests {
    @Test("L13 L14: pages follow each other by `more`, and each is committed with its event id")
    func pages() async throws {
        try await withLoopFixture { fixture async throws in
            #expect(await fixture.loops.runOnce().isEmpty)
            #expect(
                try fixture.calls() == [
                    "poll looper ok", "process looper ok", "poll looper ok", "process looper ok", "poll looper ok",
                    "process looper ok",
                ])
            #expect(try await fixture.records() == ["count=3", "page 1", "page 2", "page 3"])
            let state = try #require(await fixture.state())
            #expect(state.eventID == EventID("3"))
            #expect(state.lastResult == .ok && state.failures == 0 && state.lastPoll != nil)
        }
    }

    @Test("L07: the event id is read when the turn begins")
    func readAtExecution() async throws {
        try await withLoopFixture { fixture async throws in
            try await fixture.setEventID("2")
            #expect(await fixture.loops.runOnce().isEmpty)
            #expect(try await fixture.records() == ["count=1", "page 3"])
        }
    }

    @Test("L08: without an event id that is told, everything is fetched, and the new anchor is committed with it")
    func missing() async throws {
        try await withLoopFixture(startsAt: nil) { fixture async throws in
            #expect(await fixture.loops.runOnce().isEmpty)
            let first = try Array(fixture.calls().prefix(2))
            #expect(first == ["onError looper ok", "refresh looper ok"])
            #expect(fixture.said.prefix(2) == ["error 1", "the loop looper:looper has no event id"])
            #expect(fixture.said.contains("refresh 255"))
            #expect(try await fixture.state()?.eventID == EventID("0"))
            #expect(try await fixture.records() == ["refreshed"])
        }
    }

    @Test(
        "L10, L11: a page that wants a refresh is not processed; each bit runs what the loop has for it, once",
        arguments: [
            ("refresh everything 0", ["REFRESH_BITS=0"], ["refresh 255"]),
            ("refresh everything 0", ["REFRESH_BITS=3"], ["refresh 1", "refresh 2"]),
            ("refresh three 0", ["REFRESH_BITS=3"], ["refresh 1", "refresh 2"]),
            ("refresh three 0", ["REFRESH_BITS=1"], ["refresh 255"]),
            ("refresh four 0", ["REFRESH_BITS=3"], ["refresh 255"]),
        ])
    func refresh(mode: String, defines: [String], expected: [String]) async throws {
        try await withLoopFixture(defines: defines, mode: mode) { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(fixture.said.filter { $0.hasPrefix("refresh ") } == expected)
            let first = try Array(fixture.calls().prefix(2))
            #expect(first == ["poll looper ok", "onError looper ok"])
            #expect(fixture.said.contains("error 2"))
            let calls = try fixture.calls()
            #expect(!calls.contains { $0.hasPrefix("process") })
            #expect(try await fixture.records() == ["refreshed"])
            #expect(try await fixture.state()?.eventID == EventID("0"))
        }
    }

    @Test("The results of turns are saved when the task that saves them is cancelled")
    func cancelledSaving() async throws {
        try await withLoopFixture(mode: "fail in process 1") { fixture async throws in
            await fixture.loops.start()
            try await until {
                let task = Task { await fixture.loops.run() }
                task.cancel()
                await task.value
                return try await fixture.state()?.lastResult == .error
            }
            #expect(!fixture.log.messages.contains { $0.contains("cannot be saved") })
        }
    }

    @Test("L12: a page that is not processed leaves nothing of itself, and comes again")
    func processError() async throws {
        try await withLoopFixture(mode: "fail in process 1") { fixture async throws in
            let failures = await fixture.loops.runOnce()
            #expect(failures.map(\.loop) == [LoopFixture.loop])
            #expect(try await fixture.records() == ["count=1", "page 1"])
            #expect(try await fixture.state()?.eventID == EventID("1"))
            let result = try await fixture.state()?.lastResult
            #expect(result == .error)
            #expect(fixture.said.contains("error 4"))
            _ = await fixture.loops.runOnce()
            #expect(try await fixture.records() == ["count=1", "page 1"])
            let calls = try fixture.calls()
            #expect(calls.count { $0 == "process looper failed" } == 2)
        }
    }

    @Test("L09: a poll that fails leaves the event id, and its reason is told and kept")
    func pollError() async throws {
        try await withLoopFixture(mode: "fail in poll 0") { fixture async throws in
            let failures = await fixture.loops.runOnce()
            #expect(failures.map(\.failure.message) == ["as it was told to"])
            let state = try #require(await fixture.state())
            #expect(state.eventID == EventID("0"))
            #expect(state.lastResult == .error && state.lastError == "as it was told to" && state.failures == 1)
            #expect(fixture.said.contains("error 3"))
        }
    }

    @Test("G19: a loop that only hands on what a service refused has the service's reason")
    func refusedService() async throws {
        try await withLoopFixture(mode: "hands on 0") { fixture async throws in
            let failures = await fixture.loops.runOnce()
            let state = try #require(await fixture.state())
            #expect(state.lastError == "records.put: the collection calendars does not belong to this loop")
            #expect(failures.map(\.failure.message) == [state.lastError])
        }
    }

    @Test("L13: a page is dropped if another event id is stored than the one that was polled")
    func supersededPage() async throws {
        try await withLoopFixture { fixture async throws in
            let offer = try #require(fixture.plugin.loops)
            let callbacks = EventLoops.Callbacks(requestScan: {}, refused: {}, recordsChanged: { _ in })
            let committing = Committing(
                database: fixture.database, connection: fixture.connection, clock: .system, logger: fixture.log.logger,
                loopPlugins: [offer.kind: LoopPlugin(fixture.plugin, offer, callbacks)],
                reports: LoopReports(plugins: [:], clock: .system), removalGuard: nil, callbacks: callbacks)
            let loop = PluginLoop(
                LoopFixture.loop, offer, of: fixture.plugin, committing, LoopLimits(), interval: nil, gate: CallGate(),
                delegate: NoScheduler())
            guard case .page(let page) = try await loop.poll(since: EventID("0")) else {
                throw SetupError("the poll came to nothing")
            }
            try await fixture.setEventID("2")
            await #expect(throws: EventLoopError.self) { try await loop.process(page, advancingTo: page.eventID) }
            #expect(try await fixture.state()?.eventID == EventID("2"))
            #expect(try await fixture.records() == [])
        }
    }

    @Test("L33: a server that offers nothing is no error")
    func notOffered() async throws {
        try await withLoopFixture(mode: "nothing there 0") { fixture async throws in
            #expect(await fixture.loops.runOnce().isEmpty)
            let state = try #require(await fixture.state())
            #expect(state.lastResult == .notOffered && state.failures == 0)
            let next = try #require(state.nextPoll)
            let last = try #require(state.lastPoll)
            #expect(next - last > .seconds(80_000))
        }
        try await withLoopFixture(mode: "nothing to refresh 255", startsAt: nil) { fixture async throws in
            #expect(await fixture.loops.runOnce().isEmpty)
            #expect(try await fixture.state()?.lastResult == .notOffered)
            #expect(try await fixture.state()?.eventID == nil)
            #expect(try await fixture.records() == [])
        }
    }

    @Test("L15: pages that say there is more and come no further stop after one repeat")
    func stall() async throws {
        try await withLoopFixture(mode: "stall 1") { fixture async throws in
            #expect(await fixture.loops.runOnce().count == 1)
            let calls = try fixture.calls()
            #expect(calls.count { $0.hasPrefix("poll") } == 3)
            #expect(try await fixture.state()?.eventID == EventID("1"))
            #expect(fixture.said.contains("error 6"))
        }
    }

    @Test("L24 L25: a record in the plugin's collection means a loop, from its commit to its removal")
    func collections() async throws {
        try await withLoopFixture(defines: ["COLLECTION=\"things\""], startsAt: nil) { fixture async throws in
            #expect(try await fixture.loopIDs() == [])
            _ = await fixture.loops.runOnce()
            #expect(try fixture.calls() == [])
            try await fixture.database.write { tx in
                for key in ["a", "b"] {
                    try tx.records.put(Record(key: RecordKey(key)), in: RecordCollection("things"))
                }
            }
            try await fixture.loops.enable()
            _ = await fixture.loops.runOnce()
            let calls = try fixture.calls()
            #expect(Set(calls.map { $0.split(separator: " ")[1] }) == ["a", "b"])
            #expect(try await fixture.loopIDs() == ["a", "b"])
            // The record of this loop is removed while the plugin is away.
            _ = try await fixture.database.write {
                try $0.records.remove(RecordKey("a"), from: RecordCollection("things"))
            }
            try await fixture.loops.enable()
            #expect(try await fixture.loopIDs() == ["b"])
        }
    }

    @Test("L18 L34: logged out, no loop is left, and none knows how far it had come; what was cached stays")
    func logOut() async throws {
        try await withLoopFixture { fixture async throws in
            _ = await fixture.loops.runOnce()
            try await fixture.loops.logOut()
            #expect(try await fixture.state()?.eventID == nil)
            let before = try fixture.calls().count
            _ = await fixture.loops.runOnce()
            #expect(try fixture.calls().count == before)
            #expect(try await fixture.records().count == 4)
        }
    }

    @Test("A loop that was switched off is not polled, and goes on from its event id when it is on again")
    func switchedOff() async throws {
        try await withLoopFixture { fixture async throws in
            try await fixture.setEventID("1")
            try await fixture.database.write { try $0.loops.setEnabled(LoopFixture.loop, false) }
            try await fixture.loops.enable()
            _ = await fixture.loops.runOnce()
            #expect(try fixture.calls() == [])
            try await fixture.database.write { try $0.loops.setEnabled(LoopFixture.loop, true) }
            try await fixture.loops.enable()
            _ = await fixture.loops.runOnce()
            #expect(try await fixture.records() == ["count=2", "page 2", "page 3"])
        }
    }

    @Test("A loop's wish that the item list looks somewhere becomes a part of the next scan, and calls for it")
    func requestsListing() async throws {
        try await withLoopFixture(mode: "look 0", target: "/Shared/deep") { fixture async throws in
            _ = await fixture.loops.runOnce()
            #expect(fixture.looks.value == 1)
            let jobs = try await fixture.database.read { try $0.scan.jobs() }
            #expect(jobs == [ScanJob(path: .root, isWhole: false)])
        }
    }

    @Test(
        "L32: each stage is a line with the loop, its event ids, how long it took and what changed, and no line has a password"
    )
    func log() async throws {
        try await withLoopFixture(mode: "refresh everything 2") { fixture async throws in
            _ = await fixture.loops.runOnce()
            func stages(_ name: String, _ members: String...) -> [String] {
                fixture.log.lines.filter { $0.level == .debug && $0.message == name }.map { line in
                    #expect(line.metadata["loop"] == "looper:looper")
                    #expect(line.metadata["ms"].flatMap { Int($0) } ?? -1 >= 0, "\(line)")
                    return members.map { line.metadata[$0] ?? "-" }.joined(separator: " ")
                }
            }
            #expect(
                stages("loop polled", "from", "to", "refresh", "more")
                    == ["0 1 0 true", "1 2 0 true", "2 - 255 false"])
            #expect(stages("loop processed", "from", "to", "changes") == ["0 1 2", "1 2 2"])
            #expect(stages("loop refreshed", "from", "to", "changes") == ["2 0 1"])
            #expect(
                stages("loop turn", "from", "to", "result").suffix(3) == ["0 1 more", "1 2 more", "2 0 refresh"])
            #expect(!fixture.log.contains(fixture.server.configuration.password))
        }
    }

    @Test("An event id that is longer than 64 KiB fails its loop, and nothing of the turn is stored")
    func longEventID() async throws {
        try await withLoopFixture(mode: "long id 1") { fixture async throws in
            let failures = await fixture.loops.runOnce()
            #expect(failures.map(\.loop) == [LoopFixture.loop])
            #expect(
                failures.first?.failure.message.contains("event id of 65537 bytes; at most 65536 are possible") == true)
            #expect(try await fixture.state()?.eventID == EventID("1"))
            #expect(try await fixture.records() == ["count=1", "page 1"])
        }
    }

    @Test("L14: what one run leaves is named, and is no success")
    func tooMany() async throws {
        try await withLoopFixture(pages: 1500) { fixture async throws in
            let left = await fixture.loops.runOnce()
            #expect(left.map(\.loop) == [LoopFixture.loop])
            #expect(left.first?.failure.message == "it has more to fetch than one run fetches")
            #expect(try await fixture.state()?.eventID == EventID("1000"))
            #expect(await fixture.loops.runOnce().isEmpty)
            #expect(try await fixture.state()?.eventID == EventID("1500"))
        }
    }
}

/// A scheduler for tests in which no loop is polled.
private struct NoScheduler: LoopDelegate {
    func enableSpecialLoop(_ id: LoopKey) async {}
    func disableSpecialLoop(_ id: LoopKey) async {}
}

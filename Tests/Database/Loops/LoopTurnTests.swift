import Model
import Synchronization
import TestSupport
import Testing

@testable import Database

@Suite("The turns of event loops")
struct LoopTurnTests {
    private func withLoop(_ body: (Database) throws -> Void) throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                try tx.records.put(calendar(work, name: "Work"), in: .calendars)
                try tx.loops.enrol(.core, plugin: PluginID(shortOrFull: "core-loop"))
                try tx.loops.enrol(workLoop, plugin: calendarLoops)
            }
            try body(database)
        }
    }

    @Test("L31: a turn's effects, the plugin's values and the event id are one transaction, which tells what changed")
    func commit() throws {
        try withLoop { (database) throws in
            let heard = Mutex<[CommitChanges]>([])
            database.setCommitObserver { summary in heard.withLock { $0.append(summary) } }
            let changes: [RecordChange] = [
                .put(object("a", "A"), in: workObjects), .put(object("b", "B"), in: workObjects),
                .remove(RecordKey("/ada/work/none"), from: workObjects),
            ]
            let outcome = try database.writeBlocking {
                try $0.turn(from: nil, to: "1", changes, values: [PluginValue(key: [1], value: [2])])
            }
            var expected = LoopTurnChanges()
            expected.records = ["a", "b"].map { .init(.added, RecordKey("/ada/work/\($0)"), in: workObjects) }
            #expect(outcome == .committed(expected))
            try database.readBlocking { (reads) throws in
                let loop = try reads.loops.loop(workLoop)
                #expect(loop?.eventID == EventID("1") && loop?.lastResult == .ok && loop?.lastPoll?.seconds == 9)
                #expect(try reads.loops.eventID(of: .core) == nil)
                #expect(try reads.plugins.value(of: calendarLoops, key: [1]) == [2])
            }
            let next = try database.writeBlocking {
                try $0.turn(
                    from: "1", to: "2",
                    [
                        .put(object("a", "A"), in: workObjects), .put(object("b", "B2"), in: workObjects),
                        .remove(RecordKey("/ada/work/b"), from: workObjects),
                    ], values: [PluginValue(key: [1], value: nil)])
            }
            expected.records = [
                .init(.changed, RecordKey("/ada/work/b"), in: workObjects),
                .init(.removed, RecordKey("/ada/work/b"), in: workObjects),
            ]
            #expect(next == .committed(expected))
            #expect(try database.readBlocking { try $0.plugins.value(of: calendarLoops, key: [1]) } == nil)
            #expect(heard.withLock { $0.map(\.collections) } == [[workObjects], [workObjects]])
            #expect(heard.withLock { $0.allSatisfy(\.loopsChanged) })
        }
    }

    @Test("L16, L19: a turn of a loop that has another event id by now, is switched off or gone, writes nothing")
    func superseded() throws {
        let late: [RecordChange] = [.put(object("late", "X"), in: workObjects)]
        let values = [PluginValue(key: [1], value: [1])]
        try withLoop { (database) throws in
            try database.writeBlocking { (tx) throws in
                _ = try tx.turn(from: nil, to: "1")
                for from in [nil, "0", "1\u{0}"] {
                    #expect(try tx.turn(from: from, to: "2", late, values: values) == .superseded)
                }
                try tx.loops.setEnabled(workLoop, false)
                #expect(try tx.turn(from: "1", to: "2", late, values: values) == .superseded)
                try tx.loops.setEnabled(workLoop, true)
                try tx.loops.dropEventIDs()
                #expect(try tx.turn(from: "1", to: "2", late, values: values) == .superseded)
                #expect(try tx.loops.loop(workLoop)?.eventID == nil)
                try tx.loops.remove(workLoop)
                #expect(try tx.turn(from: nil, to: "2", late, values: values) == .superseded)
                #expect(try tx.loops.loop(workLoop) == nil)
                #expect(try tx.plugins.value(of: calendarLoops, key: [1]) == nil)
            }
            #expect(try database.keys(in: workObjects).isEmpty)
        }
    }

    @Test("L12: a turn of which one change is refused leaves nothing behind")
    func refused() throws {
        try withLoop { (database) throws in
            let bad = Record(key: RecordKey("/ada/work/b"), value: "no JSON")
            for changes in [
                [RecordChange.put(object("a", "A"), in: workObjects), .put(bad, in: workObjects)],
                [.put(Record(key: work, content: [UInt8](repeating: 1, count: 16 << 20)), in: workObjects)],
            ] {
                let failure = #expect(throws: Failure.self) {
                    try database.writeBlocking { _ = try $0.turn(from: nil, to: "1", changes) }
                }
                #expect(failure?.kind == .badData)
            }
            #expect(throws: Failure.self) { try database.writeBlocking { _ = try $0.turn(from: nil, to: "") } }
            #expect(try database.keys(in: workObjects).isEmpty)
            #expect(try database.readBlocking { try $0.loops.loop(workLoop)?.lastPoll } == nil)
        }
    }

    @Test("A turn may be as large as the limit")
    func largest() throws {
        try withLoop { (database) throws in
            var large = object("large", nil)
            let room = RecordChange.largestTurn - RecordChange.put(large, in: workObjects).size
            large.content = [UInt8](repeating: 65, count: room)
            try database.writeBlocking { (tx) throws in
                guard case .committed = try tx.turn(from: nil, to: "1", [.put(large, in: workObjects)]) else {
                    Issue.record("The turn was refused")
                    return
                }
            }
            #expect(
                try database.readBlocking { try $0.records.record(large.key, in: workObjects)?.content?.count } == room)
        }
    }

    @Test("L24: a record that goes takes its loop with it, in the same transaction, and the turn says which")
    func removedLoop() throws {
        try withLoop { (database) throws in
            try database.writeBlocking { (tx) throws in
                _ = try tx.turn(from: nil, to: "7", [.put(object("a", "A"), in: workObjects)])
                let core = LoopState(key: .core, plugin: PluginID(shortOrFull: "core-loop"), eventID: EventID("c"))
                let outcome = try tx.loops.commit(
                    LoopTurnCommit(
                        from: nil, state: core, changes: [.remove(work, from: .calendars)],
                        loopCollections: [workLoop.kind: .calendars, LoopKind("share"): .shares]))
                var expected = LoopTurnChanges()
                expected.records = [.init(.removed, work, in: .calendars)]
                expected.removedLoops = [workLoop]
                #expect(outcome == .committed(expected))
                #expect(try tx.loops.all().map(\.key) == [.core])
                // A turn of the removed loop that was under way comes too late.
                #expect(try tx.turn(from: "7", to: "8", [.put(object("b", "B"), in: workObjects)]) == .superseded)
            }
            #expect(try database.keys(in: workObjects).isEmpty)
        }
    }
}

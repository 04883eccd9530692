import GRDB
import Glibc
import Model
import TestSupport
import Testing

@testable import Database

@Suite("The rows of event loops")
struct LoopRowTests {
    private func key(_ id: String) -> LoopKey { LoopKey(kind: LoopKind("calendar"), id: LoopID(id)) }

    @Test("L31: each loop has one row, whose file is its owner's alone")
    func rows() throws {
        try withTemporaryFolder { (folder) throws in
            let database = try Database.open(path: folder + "/larder.db")
            try database.writeBlocking { (tx) throws in
                #expect(try tx.loops.enrol(key("/a/"), plugin: calendarLoops))
                #expect(try !tx.loops.enrol(key("/a/"), plugin: calendarLoops))
                // The same name in another Unicode form, and the same id of another kind, name other loops.
                for id in ["/caf\u{e9}/", "/cafe\u{301}/"] {
                    #expect(try tx.loops.enrol(key(id), plugin: calendarLoops))
                }
                let share = LoopKey(kind: LoopKind("share"), id: LoopID("/a/"))
                #expect(try tx.loops.enrol(share, plugin: PluginID(shortOrFull: "share-loop")))
                #expect(try Int.fetchOne(tx.db, sql: "SELECT count(*) FROM loops") == 4)
            }
            for suffix in ["", "-wal", "-shm"] {
                var info = stat()
                #expect(stat(folder + "/larder.db" + suffix, &info) == 0)
                #expect(info.st_mode & 0o777 == 0o600)
            }
        }
    }

    @Test("L05: core comes first, then the others as they were enabled, also after one was switched off and on")
    func order() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                for id in ["/c/", "/a/", "/b/"] { try tx.loops.enrol(key(id), plugin: calendarLoops) }
                try tx.loops.enrol(.core, plugin: PluginID(shortOrFull: "core-loop"))
                #expect(try tx.loops.all().map(\.key.id.text) == ["core", "/c/", "/a/", "/b/"])
                try tx.loops.setEnabled(key("/a/"), false)
                #expect(try tx.loops.all().map(\.isEnabled) == [true, true, false, true])
                try tx.loops.setEnabled(key("/a/"), true)
                #expect(try tx.loops.all().map(\.key.id.text) == ["core", "/c/", "/b/", "/a/"])
                try tx.loops.remove(key("/c/"))
                try tx.loops.enrol(key("/c/"), plugin: calendarLoops)
                #expect(try tx.loops.all().map(\.key.id.text) == ["core", "/b/", "/a/", "/c/"])
                let failure = #expect(throws: Failure.self) { try tx.loops.setEnabled(key("/x/"), true) }
                #expect(failure?.kind == .notFound)
            }
        }
    }

    @Test("What polls came to is noted, and touches neither the event id nor the switch")
    func notes() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                try tx.loops.enrol(workLoop, plugin: calendarLoops)
                _ = try tx.turn(from: nil, to: "1")
                try tx.loops.setEnabled(workLoop, false)
                let report = LoopState(
                    key: workLoop, plugin: PluginID("x"), isEnabled: true, eventID: EventID("other"),
                    lastPoll: Timestamp(seconds: 1), lastResult: .error, lastError: "no route",
                    nextPoll: Timestamp(seconds: 5),
                    failures: 3)
                try tx.loops.note([report, LoopState(key: key("/gone/"), plugin: calendarLoops)])
                var expected = report
                (expected.plugin, expected.isEnabled, expected.eventID) = (calendarLoops, false, EventID("1"))
                #expect(try tx.loops.all() == [expected])
            }
        }
    }

    @Test("L18, L34: dropped anchors are dropped for all loops; what they cached stays")
    func drop() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                for loop in [.core, workLoop] { try tx.loops.enrol(loop, plugin: calendarLoops) }
                _ = try tx.turn(from: nil, to: "1", [.put(object("a", "A"), in: workObjects)])
                try tx.loops.dropEventIDs()
                #expect(try tx.loops.all().map(\.eventID) == [nil, nil])
            }
            #expect(try database.keys(in: workObjects) == ["/ada/work/a"])
        }
    }

    @Test("A loop that another plugin takes over begins anew")
    func takenOver() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                try tx.loops.enrol(workLoop, plugin: calendarLoops)
                _ = try tx.turn(from: nil, to: "1")
                #expect(try !tx.loops.enrol(workLoop, plugin: PluginID("org.example.other")))
                let loop = try tx.loops.loop(workLoop)
                #expect(loop?.plugin == PluginID("org.example.other") && loop?.eventID == nil)
                #expect(try tx.turn(from: nil, to: "2") == .superseded)
            }
        }
    }
}

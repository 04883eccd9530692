import GRDB
import GRDBSQLite
import Model
import TestSupport
import Testing

@testable import Database

@Suite("Calendars and shares as they are read")
struct CachedTests {
    @Test("A calendar tells its name, its objects that are here and its loop's event id; a record without a value too")
    func calendars() throws {
        try withDatabase { (database) throws in
            let bare = RecordKey("/ada/50%/")
            try database.writeBlocking { (tx) throws in
                try tx.records.put(calendar(work, name: "Work"), in: .calendars)
                try tx.records.put(Model.Record(key: bare), in: .calendars)
                try tx.records.put(
                    Model.Record(key: RecordKey("x"), value: #"{"name":["a"],"href":7}"#), in: .calendars)
                try tx.loops.enrol(workLoop, plugin: calendarLoops)
                let objects = [object("a", "A"), object("b", nil), object("c", "")]
                _ = try tx.turn(from: nil, to: "9", objects.map { .put($0, in: workObjects) })
            }
            let found = try database.readBlocking { try $0.records.calendars() }
            #expect(
                found == [
                    CachedCalendar(key: bare, name: nil, href: "/ada/50%/", objects: 0, eventID: nil),
                    CachedCalendar(key: work, name: "Work", href: "/ada/work/", objects: 2, eventID: EventID("9")),
                    CachedCalendar(key: RecordKey("x"), name: #"["a"]"#, href: "7", objects: 0, eventID: nil),
                ])
        }
    }

    @Test("Objects come by their start, those without one first, and with their content by key")
    func objects() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                func put(_ name: String, _ value: String) throws {
                    try tx.records.put(
                        Model.Record(key: RecordKey(name), version: "v", value: value, content: [1]), in: workObjects)
                }
                try put("a", #"{"start":"2026-03-01","summary":"Later","rrule":"FREQ=WEEKLY"}"#)
                try put(
                    "b", #"{"uid":"u","component":"VEVENT","start":"2026-01-01","end":"2026-01-02","summary":null}"#)
                try put("c", "")
                try tx.records.put(object("not here", nil), in: workObjects)
            }
            for withContent in [false, true] {
                var found: [CachedCalendarObject] = []
                try database.readBlocking { reads in
                    try reads.records.eachObject(of: work, withContent: withContent) { object in
                        found.append(object)
                        return found.count < 3
                    }
                }
                let content: [UInt8]? = withContent ? [1] : nil
                let empty = CachedCalendarObject(
                    key: RecordKey("c"), version: "v", uid: nil, component: nil, summary: nil, start: nil, end: nil,
                    rule: nil,
                    content: content)
                var (a, b) = (empty, empty)
                (a.key, a.start, a.summary, a.rule) = (RecordKey("a"), "2026-03-01", "Later", "FREQ=WEEKLY")
                (b.key, b.uid, b.component, b.start, b.end) = (
                    RecordKey("b"), "u", "VEVENT", "2026-01-01", "2026-01-02"
                )
                #expect(found == (withContent ? [a, b, empty] : [empty, b, a]))
            }
        }
    }

    @Test("The shares of a path are found by an index, whatever the number of shares", arguments: [10, 10_000])
    func shares(count: Int) throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                for number in 0..<count {
                    let value = #"{"path":"/f/\#(number / 2)","direction":"byMe","shareType":3,"permissions":"read"}"#
                    try tx.records.put(Model.Record(key: RecordKey("\(number)"), value: value), in: .shares)
                }
                try tx.records.put(Model.Record(key: RecordKey("none")), in: .shares)
                // A record of another collection with the same key is not a share.
                try tx.records.put(Model.Record(key: RecordKey("0"), value: #"{"path":"/f/1"}"#), in: .calendars)
            }
            try database.readBlocking { (reads) throws in
                #expect(try reads.records.shares(of: ItemPath(unchecked: "/f/1")) == ["2", "3"].map(RecordKey.init))
                #expect(try reads.records.shares(of: ItemPath(unchecked: "/f")).isEmpty)
                let statement = try RawStatement(reads.db, "SELECT key FROM records WHERE sharedPath = ? ORDER BY key")
                let steps = sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_VM_STEP, 0)
                #expect(steps > 0 && steps < 100, "\(steps)")
                var all: [CachedShare] = []
                try reads.records.eachShare { share in
                    all.append(share)
                    return true
                }
                #expect(all.count == count + 1 && all.last?.path == nil)
                #expect(all.first?.shareType == .number(3) && all.first?.permissions == .word("read"))
            }
        }
    }
}

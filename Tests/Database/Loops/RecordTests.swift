import GRDB
import Model
import TestSupport
import Testing

@testable import Database

@Suite("What event loops cached")
struct RecordTests {
    private let notes = RecordCollection("notes")

    private func record(_ key: String, _ content: [UInt8]? = nil, version: String = "") -> Model.Record {
        Model.Record(key: RecordKey(key), version: version, content: content)
    }

    @Test("A record is read as it was written, in the parts that were asked for")
    func roundTrip() throws {
        try withDatabase { (database) throws in
            let contents: [[UInt8]?] = [nil, [], [0], Array("BEGIN:VCALENDAR\r\n".utf8), (0...255).map(UInt8.init)]
            for (index, content) in contents.enumerated() {
                let record = Model.Record(
                    key: RecordKey("50%/\(index)\u{e9}"), version: #"W/"1""#, value: #"{"a":"\u0000é"}"#,
                    content: content)
                let event = try database.writeBlocking { try $0.records.put(record, in: notes) }
                #expect(event == .added)
                try database.readBlocking { (reads) throws in
                    #expect(try reads.records.record(record.key, in: notes) == record)
                    #expect(
                        try reads.records.record(record.key, in: notes, .version)
                            == Model.Record(key: record.key, version: #"W/"1""#))
                    #expect(try reads.records.record(record.key, in: notes, .value)?.value == record.value)
                    #expect(try reads.records.record(record.key, in: notes, .content)?.content == content)
                    #expect(try reads.records.record(record.key, in: RecordCollection("note")) == nil)
                }
            }
            #expect(try database.readBlocking { try $0.records.count(in: notes) } == 5)
            #expect(try database.readBlocking { try $0.records.count(in: notes, withContent: true) } == 4)
        }
    }

    @Test("Putting tells whether a record came, changed or is the same; an old content does not stay behind")
    func putting() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                let steps: [(Model.Record, RecordEvent?)] = [
                    (record("a", [1]), .added), (record("a", [1]), nil), (record("a", [1], version: "2"), .changed),
                    (record("a", [2], version: "2"), .changed), (record("a", nil, version: "2"), .changed),
                    (record("a", [], version: "2"), .changed), (record("a", [3]), .changed), (record("a", [3]), nil),
                ]
                for (record, event) in steps {
                    let found = try tx.records.put(record, in: notes)
                    #expect(found == event)
                }
                #expect(try Int.fetchAll(tx.db, sql: "SELECT length(content) FROM recordContents") == [1])
                #expect(try tx.records.remove(RecordKey("a"), from: notes))
                #expect(try !tx.records.remove(RecordKey("a"), from: notes))
                #expect(try Int.fetchOne(tx.db, sql: "SELECT count(*) FROM recordContents") == 0)
            }
        }
    }

    @Test(
        "A value that is no JSON object is refused, and says of which record",
        arguments: ["{", "[1]", "7", "null", " "])
    func values(text: String) throws {
        try withDatabase { (database) throws in
            let bad = Model.Record(key: RecordKey("12"), value: text)
            let failure = #expect(throws: Failure.self) {
                try database.writeBlocking { try $0.records.put(bad, in: .shares) }
            }
            #expect(failure?.kind == .badData && failure?.message.contains("12") == true)
            #expect(try database.keys(in: .shares) == [])
        }
    }

    @Test("A collection is read by key, byte by byte, from any key on")
    func order() throws {
        try withDatabase { (database) throws in
            let keys = ["", "/", "A", "B", "a", "e\u{301}", "z", "\u{e9}", "\u{1f600}"]
            try database.writeBlocking { (tx) throws in
                for key in keys.reversed() { try tx.records.put(record(key), in: notes) }
                try tx.records.put(record("x"), in: RecordCollection("note"))
                try tx.records.put(record("x"), in: RecordCollection("notes/"))
            }
            #expect(try database.keys(in: notes).map { Array($0.utf8) } == keys.map { Array($0.utf8) })
            #expect(try database.keys(in: notes, after: RecordKey("a")) == Array(keys[5...]))
            #expect(try database.keys(in: notes, after: RecordKey("aa")) == Array(keys[5...]))
            #expect(try database.keys(in: notes, after: RecordKey("\u{1f601}")).isEmpty)
        }
    }

    @Test("A cursor sees the state in which its session began, whatever is written meanwhile")
    func cursor() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                for number in 0..<10 { try tx.records.put(record("\(number)", [UInt8(number)]), in: notes) }
            }
            let session = try ReadSession(database)
            let cursor = try session.records(in: notes, after: RecordKey("2"), [.content])
            #expect(try cursor.next()?.key == RecordKey("3"))
            try database.writeBlocking { (tx) throws in
                for number in 4..<10 { try tx.records.remove(RecordKey("\(number)"), from: notes) }
            }
            #expect(try cursor.next() == record("4", [4]))
            var rest = 0
            while try cursor.next() != nil { rest += 1 }
            #expect(rest == 5)
        }
    }

    @Test("What belongs to a record goes with it, and nothing that is named alike")
    func owned() throws {
        try withDatabase { (database) throws in
            let alike = RecordCollection("calendars//ada/work/x")
            try database.writeBlocking { (tx) throws in
                try tx.records.put(calendar(work, name: "Work"), in: .calendars)
                try tx.records.put(object("a", "A"), in: workObjects)
                for collection in [alike, .calendars] { try tx.records.put(record("x", [1]), in: collection) }
                #expect(try tx.records.remove(work, from: .calendars))
                #expect(try Int.fetchOne(tx.db, sql: "SELECT count(*) FROM recordContents") == 2)
            }
            #expect(try database.keys(in: workObjects) == [])
            #expect(try database.keys(in: alike) == ["x"])
            #expect(try database.keys(in: .calendars) == ["x"])
        }
    }

    @Test("An object that goes takes no calendar's objects with it whose path is its own behind its calendar's")
    func unambiguous() throws {
        try withDatabase { (database) throws in
            let (short, long) = (RecordKey("/a/"), RecordKey("/a//b"))
            try database.writeBlocking { (tx) throws in
                for key in [short, long] { try tx.records.put(calendar(key, name: key.text), in: .calendars) }
                try tx.records.put(record("b", [1]), in: RecordCollection.calendars.of(short))
                try tx.records.put(record("/a//b/1", [1]), in: RecordCollection.calendars.of(long))
                #expect(try tx.records.remove(RecordKey("b"), from: RecordCollection.calendars.of(short)))
            }
            #expect(try database.keys(in: RecordCollection.calendars.of(long)) == ["/a//b/1"])
        }
    }
}

import Database
import Model
import TestSupport
import Testing

@testable import Core
@testable import larder

@Suite("What plugins keep, read beside a host")
struct KeptReadingTests {
    /// Fills a database with records of two plugins' loops, in collections of their own and of Larder's.
    private func fill(_ database: Database) async throws {
        try await database.write { tx in
            for (collection, key, content) in [
                ("org.example.a", "2", nil), ("org.example.a", "10", [UInt8](repeating: 0, count: 1_000)),
                ("org.example.a/x", "é", []), ("org.example.ab", "other", nil), ("calendars", "/ada/", nil),
                ("calendars", "/bob/", nil), ("calendars//ada/", "1.ics", [1]),
            ] as [(String, String, [UInt8]?)] {
                let record = Record(key: RecordKey(key), value: #"{"n":1.50}"#, content: content)
                try tx.records.put(record, in: RecordCollection(collection))
            }
            try tx.loops.enrol(
                LoopKey(kind: LoopKind("calendar"), id: LoopID("/ada/")), plugin: PluginID("org.example.a"))
            for key: [UInt8] in [[0xff], [0], Array("k".utf8)] {
                try tx.plugins.setValue(of: PluginID("org.example.a"), key: key, [])
            }
            try tx.plugins.setValue(of: PluginID("org.example.ab"), key: [1], [1])
        }
    }

    @Test("Records come by collection and key, of the plugin alone, with and without a running host")
    func records() async throws {
        try await AccountFixture.running { fixture in
            try await fill(fixture.host.database)
            let cli = try CommandLineRun(fixture)
            let running = try await cli("plugin", "records", "org.example.a")
            #expect(running.code == 0 && running.errors.isEmpty, "\(running)")
            #expect(
                running.lines == [
                    #"      -  calendars  /ada/  -  {"n":1.50}"#, #"    1 B  calendars//ada/  1.ics  -  {"n":1.50}"#,
                    #" 1.0 kB  org.example.a  10  -  {"n":1.50}"#, #"      -  org.example.a  2  -  {"n":1.50}"#,
                    #"    0 B  org.example.a/x  é  -  {"n":1.50}"#, "5 records, 1066B of 1GB",
                ], "\(running)")
            let kept = try await cli("--json", "plugin", "records", "org.example.a", "calendars")
            #expect(
                kept.lines.first
                    == #"{"collection":"calendars","key":"/ada/","version":null,"value":{"n":1.5},"contentSize":null}"#,
                "\(kept)")
            let values = try await cli("plugin", "values", "org.example.a")
            #expect(
                values.lines == ["    0 B  0x00  ", "    0 B  k  ", "    0 B  0xff  ", "3 values, 3B of 64MB"],
                "\(values)")
            try await fixture.close()
            #expect(try await cli("plugin", "records", "org.example.a").lines == running.lines)
            #expect(try await cli("plugin", "values", "org.example.a").lines == values.lines)
            try await fixture.start()
        }
    }

    @Test("What is long is cut between characters, and what is no text is shown as its bytes")
    func shown() {
        let long = String(repeating: "é", count: 500)
        #expect(KeptText.shown(Array(long.utf8)) == String(repeating: "é", count: 120) + "…")
        // 480 bytes end within a character of three bytes, and within one of four.
        for text in ["a" + String(repeating: "€", count: 300), "a" + String(repeating: "😀", count: 300)] {
            #expect(KeptText.shown(Array(text.utf8)) == text.prefix(120) + "…")
        }
        #expect(KeptText.shown(Array(String(repeating: "x", count: 120).utf8)) == String(repeating: "x", count: 120))
        // One character of many scalars is cut too.
        let stacked = "e" + String(repeating: "\u{301}", count: 1_000)
        #expect(KeptText.shown(Array(stacked.utf8)).utf8.count < 600)
        #expect(KeptText.shown([UInt8](repeating: 0xe9, count: 61)) == "0x" + String(repeating: "e9", count: 60) + "…")
        #expect(KeptText.shown([3, 0, 0, 0]) == "0x03000000")
        #expect(KeptText.shown(Array("a\u{202e}b\u{85}\t".utf8)) == #"a\u202eb\u0085\t"#)
        #expect(KeptText.shown([]) == "")
        #expect(KeptText.whole(Array("\0é".utf8)) == ("\0é", "utf-8") && KeptText.whole([0x80]) == ("gA==", "base64"))
    }
}

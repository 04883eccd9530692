import Database
import EventLoops
import EventScheduler
import Model
import TestSupport
import Testing

/// Tests of the limit for the records that a plugin's loops keep.
@Suite struct RecordQuotaTests {
    @Test("G43: a turn whose records would take more than the quota fails whole, and says plugin, quota and setting")
    func refused() async throws {
        try await withLoopFixture(mode: "hoard 1", recordQuota: 10_000) { fixture async throws in
            let failures = await fixture.loops.runOnce()
            #expect(failures.map(\.loop) == [LoopFixture.loop])
            // The plugin takes no notice of the refusal and returns well. Still nothing of the turn is there.
            #expect(fixture.said.contains("taken 9"), "\(fixture.said)")
            #expect(try await fixture.records() == ["count=1", "page 1"])
            #expect(try await fixture.state()?.eventID == EventID("1"))
            #expect(try await fixture.database.read { try $0.plugins.value(of: LoopFixture.plugin, key: last) } == one)
            let message =
                "the records of the plugin org.example.looper would take 10138 bytes, but `record-quota` is 10000; "
                + "nothing of the turn is kept"
            #expect(failures.first?.failure.message == message)
            #expect(try await fixture.state()?.lastError == message)
            #expect(fixture.log.contains("The loop looper:looper failed: \(message)"))
            let issues = try await fixture.database.read { try $0.issues.all() }
            #expect(issues.map(\.code) == ["loop.full"] && issues.first?.message.hasPrefix(message) == true)
            #expect(fixture.said.contains("error 4") && fixture.said.contains(message), "\(fixture.said)")
            let size = try await fixture.database.read { try $0.records.size(keptBy: LoopFixture.plugin) }
            #expect(size == Int64("count1page 1{\"seen\":1}".utf8.count))
        }
    }

    @Test("G43: records that take each other's place count once, within a turn and from turn to turn")
    func replaced() async throws {
        for mode in ["rewrite", "renew"] {
            // Five records of 1,008 bytes, and some bytes for each page.
            try await withLoopFixture(mode: mode, pages: 8, recordQuota: 5_300) { fixture async throws in
                #expect(await fixture.loops.runOnce().isEmpty, "\(mode) \(fixture.said)")
                #expect(try await fixture.state()?.eventID == EventID("8"))
                #expect(try await fixture.database.read { try $0.issues.all() }.isEmpty)
                let size = try await fixture.database.read { try $0.records.size(keptBy: LoopFixture.plugin) }
                #expect(size == 5 * 1_008 + 8 * 16 + 6)
            }
        }
    }

    @Test("G43: a plugin that keeps more than a lowered quota may replace and remove, and goes on when there is room")
    func lowered() async throws {
        try await withLoopFixture(mode: "rewrite", pages: 1, recordQuota: 4_000) { fixture async throws in
            try await fixture.database.write { tx in
                for number in 0..<5 {
                    let content = [UInt8](repeating: 1, count: 1_100)
                    try tx.records.put(
                        Record(key: RecordKey("kept \(number)"), version: "", value: "{}", content: content),
                        in: LoopFixture.own)
                }
                for number in 0..<3 {
                    let other = RecordCollection("org.example.looper\(number == 0 ? "x" : number == 1 ? "/x" : "0")")
                    try tx.records.put(Record(key: RecordKey("k"), version: "", value: "{}"), in: other)
                }
            }
            // Of the three other collections one is the plugin's.
            let before = try await fixture.database.read { try $0.records.size(keptBy: LoopFixture.plugin) }
            #expect(before == 5 * 1_108 + 3)
            // The first records of the turn are new, so that it fails.
            #expect(await fixture.loops.runOnce().count == 1)
            #expect(try await fixture.database.read { try $0.issues.all() }.map(\.code) == ["loop.full"])
            try await fixture.database.write { tx in
                for number in 1..<5 { try tx.records.remove(RecordKey("kept \(number)"), from: LoopFixture.own) }
                for key in ["count", "page 1"] {
                    try tx.records.put(
                        Record(
                            key: RecordKey(key), version: "1", value: "{}", content: [UInt8](repeating: 1, count: 4_200)
                        ),
                        in: LoopFixture.own)
                }
            }
            // Now the turn leaves less than there was.
            #expect(await fixture.loops.runOnce().isEmpty, "\(fixture.said)")
            #expect(try await fixture.state()?.eventID == EventID("1"))
            #expect(try await fixture.database.read { try $0.issues.all() }.isEmpty)
        }
    }

    @Test("G43: the records of calendars and shares count for the plugin whose loop keeps them")
    func owners() async throws {
        try await withTemporaryFolder { folder in
            let database = try Database.open(path: "\(folder)/larder.db")
            let (core, calendars, other) = (
                PluginID("org.a.core"), PluginID("org.a.calendars"), PluginID("org.a.other")
            )
            try await database.write { tx in
                try tx.loops.enrol(.core, plugin: core)
                for (id, plugin) in [("/c/", calendars), ("/d/", other)] {
                    try tx.loops.enrol(LoopKey(kind: LoopKind("calendar"), id: LoopID(id)), plugin: plugin)
                    let key = RecordKey(id)
                    try tx.records.put(Record(key: key, version: "", value: "{}"), in: .calendars)
                    try tx.records.put(
                        Record(key: RecordKey("o"), version: "v", value: "", content: [1, 2, 3]),
                        in: RecordCollection.calendars.of(key))
                }
                try tx.records.put(Record(key: RecordKey("s"), version: "", value: ""), in: .shares)
            }
            let sizes = try await database.read { tx in
                try [core, calendars, other, PluginID("org.a")].map { try tx.records.size(keptBy: $0) }
            }
            // Three bytes of key and two of value for each calendar's record, and five bytes for its object.
            #expect(sizes == [11, 10, 10, 0])
            try database.close()
        }
    }

    private let last = Array("last".utf8)
    private let one = Array("1".utf8)
}

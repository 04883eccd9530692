import CLarder
import Database
import ItemPolicies
import Model
import PluginHost
import TestSupport
import Testing

/// Tests of processors that read the records of event loops.
@Suite(.timeLimit(.minutes(5))) struct RecordsTests {
    private static let list = RecordCollection("list")

    private func keep(_ keys: [String: String], in fixture: ProcessorFixture) async throws {
        try await fixture.database.write { transaction in
            for (key, version) in keys {
                try transaction.records.put(Record(key: RecordKey(key), version: version), in: Self.list)
            }
        }
    }

    private func withLibrarian(
        wait: String = "", _ body: @escaping @Sendable (ProcessorFixture) async throws -> Void
    ) async throws {
        try await withProcessorFixture(
            "librarian", settings: ["collection": "list", "wait": wait], items: ["/a", "/b", "/c"], body)
    }

    private func said(_ fixture: ProcessorFixture) -> [String] {
        fixture.log.messages.filter { $0.hasPrefix("info: ") }.map { String($0.dropFirst(6)) }
    }

    @Test("G45: a processor reads what loops keep, and each change of records has it look at all items")
    func trigger() async throws {
        try await withLibrarian { fixture in
            let first = try await fixture.names { try await keep(["/b": "1", "c": "2", "x": ""], in: fixture) }
            #expect(first.filter { $0.hasPrefix("performAction") } == ["/a", "/b", "/c"].map { "performAction \($0)" })
            #expect(
                fixture.sink.intents.map(\.change)
                    == ["/b", "/c"].map { .download(LocalID("id:" + $0), whileCovered: false) })
            #expect(said(fixture).first == "records: /b=1 c=2 x=")
            // A record that is put as it was has not changed.
            let same = try await fixture.names { try await keep(["/b": "1"], in: fixture) }
            let changed = try await fixture.names { try await keep(["/b": "2"], in: fixture) }
            #expect(same == [] && !changed.isEmpty)
            let removal = try await fixture.names {
                try await fixture.database.write { _ = try $0.records.remove(RecordKey("/b"), from: Self.list) }
            }
            #expect(!removal.isEmpty)
            #expect(
                said(fixture).filter { $0.hasPrefix("records:") } == [
                    "records: /b=1 c=2 x=", "records: /b=2 c=2 x=", "records: c=2 x=",
                ])
            // Nothing else calls a processor that wants this trigger alone.
            let other = try await fixture.names {
                try await fixture.add("/d")
                fixture.policies.fire(.itemListUpdateCompleted)
            }
            #expect(other == [])
            #expect(try fixture.calls().allSatisfy { $0.trigger == "recordsChanged" && $0.status == "ok" })
        }
    }

    @Test("G45: what a loop keeps during a run is seen by the next run, like the items")
    func state() async throws {
        try await withTemporaryFolder { folder in
            try await withLibrarian(wait: "\(folder)/go") { fixture in
                try await keep(["/a": "1"], in: fixture)
                while !Files.exists("\(folder)/go.read") { try await HostClock.system.sleep(.milliseconds(5)) }
                try await keep(["/a": "2", "/b": "1"], in: fixture)
                try Files.write("", to: "\(folder)/go")
                await fixture.policies.waitUntilIdle()
                #expect(
                    said(fixture).filter { !$0.hasPrefix("put") } == [
                        "records: /a=1", "again: /a=1", "records: /a=2 /b=1",
                    ])
                #expect(
                    fixture.sink.intents.map(\.change)
                        == ["/a", "/a", "/b"].map { .download(LocalID("id:" + $0), whileCovered: false) })
            }
        }
    }

    @Test("G45: a processor changes no record, and the log says why")
    func denied() async throws {
        try await withLibrarian { fixture in
            try await keep(["/a": "1"], in: fixture)
            await fixture.policies.waitUntilIdle()
            #expect(said(fixture).last == "put \(LARDER_DENIED), remove \(LARDER_DENIED)")
            let why = "during didPassTrigger: a processor reads records, and only event loops change them"
            for name in ["put", "remove"] {
                #expect(fixture.log.messages.contains { $0.hasSuffix("refused records.\(name) \(why)") })
            }
            let kept = try await fixture.database.read { try $0.records.record(RecordKey("/a"), in: Self.list) }
            #expect(kept?.version == "1")
            let report = await fixture.host.reports().first { $0.id == PluginID("org.example.librarian") }
            #expect(report?.state == .running && report?.reason == nil)
        }
    }

    @Test("G45, G12: a plugin of an earlier ABI that wants all triggers gets this one too, and runs")
    func earlier() async throws {
        try await withTemporaryFolder { folder in
            try CompiledPlugin.writeFirstHeaders(into: folder)
            try await withProcessorFixture(
                "recorder", headers: folder, settings: ["match": "path == '/a'"], items: ["/a", "/b"]
            ) { fixture in
                let names = try await fixture.names { try await keep(["/a": "1"], in: fixture) }
                #expect(names.contains("performAction /a") && names.last == "didPassTrigger")
                #expect(try fixture.calls().allSatisfy { $0.trigger == "recordsChanged" && $0.status == "ok" })
                let report = await fixture.host.reports().first { $0.id == PluginID("org.example.recorder") }
                #expect(report?.abi == "1.0" && report?.state == .running && report?.reason == nil)
            }
        }
    }
}

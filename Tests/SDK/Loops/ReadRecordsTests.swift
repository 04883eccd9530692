import CLarder
import LarderFakeHost
import LarderSDK
import Model
import Testing

/// Tests of a processor that reads records, in the fake host.
@Suite struct ReadRecordsTests {
    @Test("G45: a Swift processor reads records and gets their trigger; it may change none")
    func reads() throws {
        let fixture = try PluginFixture(entry: { _, out in
            export(Sampler.self, Drafter.self, loops: Sampling.self, to: out)
        })
        #expect(fixture.start("org.example.sampler") == LARDER_OK)
        fixture.put(.file("/records"))
        for key in ["/a", "/b"] { fixture.put(record: key, in: "list", version: "1") }
        #expect(fixture.run(.recordsChanged) == LARDER_DENIED)
        #expect(fixture.logLines.contains("keys /b=1, known 1"))
        #expect(fixture.mistakes == ["records.put \(LARDER_DENIED)"])
        #expect(fixture.records(in: "list").map(\.key) == ["/a", "/b"])
        // The call that was denied something has failed, and so has asked for nothing.
        #expect(fixture.paths("download").isEmpty)
    }
}

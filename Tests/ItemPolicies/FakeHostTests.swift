import CLarder
import FoundationEssentials
import ItemPolicies
import LarderFakeHost
import Model
import PluginHost
import TestSupport
import Testing

/// Tests that the fake host refuses the same requests of a processor as the host.
@Suite struct FakeHostTests {
    /// Runs a plugin over one item in a fake host. Returns the plugin's log messages and the mistakes that the fake
    /// host noted.
    private func saidToFake(defines: [String], settings: String) async throws -> (said: [String], mistakes: [String]) {
        try await withTemporaryFolder { folder in
            let library = "\(folder)/careless.so"
            try await CompiledPlugin.build("careless", to: library, defines: defines)
            let fake = larder_fake_open(library)
            defer { larder_fake_free(fake) }
            larder_fake_settings(fake, settings)
            larder_fake_evaluate_with(fake, { _, _, _ in 1 }, nil)
            "id:/a".withCString { id in
                var item = larder_item()
                item.struct_size = UInt32(MemoryLayout<larder_item>.size)
                item.present = 1 << UInt64(LARDER_FIELD_LOCAL_ID)
                item.local_id = larder_str_make(id, 5)
                larder_fake_put_item(fake, &item)
            }
            try #require(
                larder_fake_start(fake, "org.example.careless") == LARDER_OK,
                "\(larder_fake_problem(fake).map { String(cString: $0) } ?? "")")
            let status = larder_fake_run(fake, Trigger.itemListUpdateCompleted.rawValue, nil, 0)
            #expect(status == (defines.isEmpty ? LARDER_OK : LARDER_STATUS_LAST - 1))
            func texts(_ kind: UInt32, _ read: (larder_fake_entry) -> String) -> [String] {
                (0..<larder_fake_count(fake, kind)).compactMap {
                    larder_fake_entry_at(fake, kind, $0).map { read($0.pointee) }
                }
            }
            return (
                Self.lines(texts(LARDER_FAKE_LOG) { $0.text.map { String(cString: $0) } ?? "" }),
                texts(LARDER_FAKE_MISTAKE) { "\(String(cString: $0.name)) \($0.status)" }
            )
        }
    }

    private static func lines(_ messages: [String]) -> [String] {
        messages.flatMap { $0.split(separator: "\n").map(String.init) }
    }

    @Test(
        "G6, G12: what a processor may not do comes to the same with the host and the fake host; a newer one errs less",
        arguments: [false, true])
    func processor(isNewer: Bool) async throws {
        let defines = isNewer ? ["ABI_MINOR=(LARDER_ABI_MINOR+1)", "PERFORM_STATUS=(LARDER_STATUS_LAST-1)"] : []
        let settings = ["after": "90s", "room": "16GiB"]
        let json = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        let (said, mistakes) = try await saidToFake(defines: defines, settings: json)
        #expect(said.count > 60)
        try await withProcessorFixture("careless", defines: defines, settings: settings, items: ["/a"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let lines = Self.lines(
                fixture.log.messages.filter { $0.hasPrefix("info: ") }.map { String($0.dropFirst(6)) })
            for (host, fake) in zip(lines, said) { #expect(host == fake) }
            #expect(lines.count == said.count)
            let report = try #require(await fixture.host.reports().first { $0.id == PluginID("org.example.careless") })
            // The first part of the text counts the mistakes of each kind. The rest concerns the last run.
            let counted = (report.reason ?? "").split(separator: "; the last time:")[0]
            let counts = counted.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
            // The fake host notes each mistake that the host counts, and also the use of a service that was not
            // declared, and changes of records, which the host denies. It does not note that a call failed, nor that a
            // plugin with a maximum does not want the trigger that reports free capacity.
            let failed = isNewer ? 2 : 1
            #expect(counts.reduce(0, +) - failed + 3 == mistakes.count, "\(report.reason ?? "") \(mistakes)")
            // A flag, level or order that only later headers have is not offered. A status that only later headers have
            // counts as a failure like any other.
            let unknown = said.filter { $0.contains("0x80") || $0.contains("UINT32_MAX") }
            #expect(unknown.count == 3 && unknown.allSatisfy { $0.hasSuffix(isNewer ? " -7" : " -2") }, "\(unknown)")
            #expect(report.reason?.contains("unknown statuses") == false)
            #expect(fixture.log.contains("performAction of /a failed: unknown -14") == isNewer)
        }
    }
}

import ItemPolicies
import Model
import PluginHost
import TestSupport
import Testing

/// Tests of the lines of a trace other than those at the ends of calls.
@Suite struct TraceTests {
    /// Returns each line of a phase as one text.
    private func texts(_ fixture: ProcessorFixture, _ phase: String) throws -> [String] {
        try fixture.lines().filter { $0.phase == phase }
            .map { [$0.call, $0.path, $0.what, $0.text, $0.because].compactMap(\.self).joined(separator: " | ") }
    }

    private func run(_ fixture: ProcessorFixture) async {
        fixture.policies.fire(.itemListUpdateCompleted)
        await fixture.policies.waitUntilIdle()
    }

    @Test("G18: conditions, what was asked for, what is dropped with its call, and messages have lines of their own")
    func lines() async throws {
        try await withProcessorFixture(settings: ["mode": "fail", "match": "size > 1"], items: ["/a", "/bad"]) {
            fixture in
            await run(fixture)
            #expect(try texts(fixture, "condition").contains("matchCondition | match | size > 1"))
            #expect(try texts(fixture, "condition").contains("cleanupCondition | cleanup"))
            #expect(try texts(fixture, "asked") == ["performAction | /a | download | /a"])
            #expect(
                try texts(fixture, "dropped") == ["performAction | /bad | download | /bad | the call returned failed"])
            #expect(try texts(fixture, "message") == ["performAction | /bad | fail | it is bad"])
            let begun = try fixture.lines().filter { $0.phase == "begin" }.compactMap(\.call)
            for call in ["create", "start", "triggers", "matchCondition", "beginMatching", "performAction"] {
                #expect(begun.contains(call), "\(begun)")
            }
            // Each call that began has ended.
            let ended = try fixture.lines().filter { $0.status != nil }.compactMap(\.call)
            #expect(begun.sorted() == ended.sorted())
        }
    }

    @Test(
        "G18: a service that is refused has a line with the reason, also from another thread",
        arguments: [
            ("no key", "performAction | /a | actions.download | invalidArgument | the key is missing"),
            (
                "thread",
                "actions.download | wrongThread | called from a thread on which no call into the plugin is under way"
            ),
        ])
    func refused(mode: String, line: String) async throws {
        try await withProcessorFixture(settings: ["mode": mode, "match": "true"], items: ["/a"]) { fixture in
            await run(fixture)
            let refused = try texts(fixture, "refused")
            #expect(refused == [line])
        }
    }

    @Test(
        "G18: items come in the order of their paths, byte by byte, whatever index finds them",
        arguments: ["true", "removed", "cloudStatus == \"localCopy\"", "path.startsWith(\"/\")", "size >= 0"])
    func order(condition: String) async throws {
        let paths = ["/z", "/a", "/é", "/a/b", "/a.b", "/B", "/b", "/\u{1F600}"]
        try await withProcessorFixture(settings: ["match": condition]) { fixture in
            for path in paths {
                try await fixture.add(path, size: 7, removed: condition == "removed", .localCopy)
            }
            await fixture.policies.waitUntilIdle()
            let before = try fixture.calls().count
            await run(fixture)
            let items = try fixture.calls().dropFirst(before).filter { $0.call == "performAction" }.compactMap(\.path)
            #expect(items.count == paths.count)
            #expect(
                items.map { Array($0.utf8) } == paths.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
            )
        }
    }
}

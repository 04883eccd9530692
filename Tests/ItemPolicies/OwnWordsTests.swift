import CLarder
import Database
import Glibc
import ItemPolicies
import Model
import PluginHost
import Synchronization
import TestSupport
import Testing

/// Tests of what processors say of items in their own words.
@Suite(.timeLimit(.minutes(5))) struct OwnWordsTests {
    private func withTalker(
        says: String, triggers: String = "2", defines: [String] = [], headers: String? = nil,
        _ body: @escaping @Sendable (ProcessorFixture) async throws -> Void
    ) async throws {
        try await withProcessorFixture(
            "talker", defines: defines, headers: headers, settings: ["says": says, "triggers": triggers],
            items: ["/a", "/b"], body)
    }

    private static func explain(_ path: String, _ fixture: ProcessorFixture) async throws -> Explanation {
        await fixture.policies.waitUntilIdle()
        let item = try await fixture.database.read { try $0.items.lastItem(at: ItemPath(path)) }
        let explanations = try await fixture.policies.explain(try #require(item))
        return try #require(explanations.first)
    }

    /// Returns the warnings and errors that the log has got.
    private static func complaints(_ fixture: ProcessorFixture) -> [String] {
        fixture.log.messages.filter {
            !$0.hasPrefix("info: ") && !$0.hasPrefix("debug: ") && !$0.contains("is missing: no library is there")
        }
    }

    /// Returns the calls in the trace that have ended, with the item's path if the call concerns an item.
    private static func ended(_ fixture: ProcessorFixture) throws -> [String] {
        try fixture.lines().filter { $0.status != nil }
            .map { [$0.call, $0.path].compactMap(\.self).joined(separator: " ") }
    }

    @Test("P54: what a processor says of an item is told beside what the host finds out")
    func said() async throws {
        try await withTalker(says: "it waits for the night") { fixture in
            let explanation = try await Self.explain("/a", fixture)
            #expect(explanation.says == "it waits for the night")
            #expect(explanation.matches && explanation.because?.text == #"type == "file" && !removed"#)
            #expect(Self.complaints(fixture) == [])
        }
    }

    @Test("P54: a processor is asked after a run for the item alone, and only when a person asks")
    func state() async throws {
        try await withTalker(says: "state") { fixture in
            try await fixture.database.write { tx in
                _ = try tx.policies.add(ItemPolicy(kind: PolicyKind("talker"), condition: "favorite"), by: .somebody)
            }
            fixture.policies.fire(.itemListUpdateCompleted)
            let says = try await Self.explain("/a", fixture).says
            #expect(says == "/a 0: 1 policies, 1 performed, 1 passed, 0")
            try await fixture.add("/gone", removed: true)
            let saysOfGone = try await Self.explain("/gone", fixture).says
            #expect(saysOfGone == "/gone 1: 1 policies, 0 performed, 1 passed, 0")
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let names = try Self.ended(fixture)
            #expect(names.filter { $0.hasPrefix("explain") } == ["explain /a", "explain /gone"])
            #expect(names.filter { $0 == "performAction /b" }.count == 2)
        }
        // Without a trigger there is no run, but the policies come.
        try await withTalker(says: "state", triggers: "0") { fixture in
            let explanation = try await Self.explain("/a", fixture)
            #expect(explanation.trigger == nil && explanation.says == "/a 0: 0 policies, 0 performed, 0 passed, 0")
            #expect(try Self.ended(fixture).suffix(3) == ["triggers", "updatePolicies", "explain /a"])
        }
        try await withTalker(says: "lost") { fixture in
            let says = try await Self.explain("/a", fixture).says
            #expect(says == nil)
            #expect(try !Self.ended(fixture).contains { $0.hasPrefix("explain") })
        }
    }

    @Test(
        "P54: a processor that says nothing, or does not know how to, is explained by the host alone",
        arguments: ["absent", "empty", "silent", "earlier"])
    func nothing(how: String) async throws {
        try await withTemporaryFolder { folder in
            if how == "earlier" { try CompiledPlugin.writeFirstHeaders(into: folder) }
            let body: @Sendable (ProcessorFixture) async throws -> Void = { fixture in
                let explanation = try await Self.explain("/a", fixture)
                #expect(explanation.says == nil && explanation.matches)
                #expect(Self.complaints(fixture) == [])
            }
            if how == "earlier" {
                try await withProcessorFixture(
                    "recorder", headers: folder, settings: ["match": "true"], items: ["/a"], body)
            } else {
                try await withTalker(says: how, defines: how == "silent" ? ["SILENT=1"] : [], body)
            }
        }
    }

    @Test(
        "P54, P53: a processor that fails at it, or says no text, is named in the log and explained by the host alone",
        arguments: [
            ("bad", "failed: the text is not UTF-8"), ("huge and bad", "failed: the text is not UTF-8"),
            ("failure", "failed: the archive is not mounted"), ("nothing more", "failed: failed"),
            ("unknown", "returned the unknown status 42"),
        ])
    func failing(says: String, complaint: String) async throws {
        try await withTalker(says: says) { fixture in
            let explanation = try await Self.explain("/a", fixture)
            #expect(explanation.says == nil && explanation.matches)
            #expect(Self.complaints(fixture) == ["warning: explain of /a \(complaint)"])
            let report = try #require(await fixture.host.reports().first { $0.id == PluginID("org.example.talker") })
            #expect(report.state == .running)
        }
    }

    @Test("P54: a text of 1 MiB is cut between two characters, and control characters stay for the output to show")
    func long() async throws {
        try await withTalker(says: "huge") { fixture in
            let says = try await Self.explain("/a", fixture).says
            #expect(says == "xx" + String(repeating: "€", count: 340) + "…")
            #expect(Self.complaints(fixture) == [])
        }
        try await withTalker(says: "hostile") { fixture in
            let says = try await Self.explain("/a", fixture).says
            #expect(
                says
                    == "\u{1b}[2J\u{1b}]0;x\u{7} a\r\nvacuum  \u{9b}1A\u{202e}back\u{8}")
        }
    }

    @Test("P54, G6: while it says something a processor changes nothing, and reads as in a run")
    func refused() async throws {
        try await withTalker(says: "writes") { fixture in
            let before = try await fixture.database.read { try $0.meta.integer(.anchor) }
            let says = try await Self.explain("/a", fixture).says
            #expect(says == "19 of 19 refused")
            #expect(fixture.sink.intents == [])
            #expect(try await fixture.database.read { try $0.policies.all() } == [])
            #expect(try await fixture.database.read { try $0.meta.integer(.anchor) } == before)
            #expect(fixture.log.contains("refused actions.download: not allowed during explain"))
        }
        try await withTalker(says: "reads") { fixture in
            let says = try await Self.explain("/a", fixture).says
            #expect(
                says
                    == "2 files 0, policies 0 0, kv \(LARDER_NOT_FOUND), usage 0, records \(LARDER_NOT_FOUND), "
                    + "projects \(LARDER_UNSUPPORTED)")
            #expect(Self.complaints(fixture) == [])
        }
    }

    @Test("P54, G41: what the call changed of the process is put back, and named with the item")
    func harm() async throws {
        try await withProcessorFixture("fatal", settings: ["does": "ignore", "in": "explain"], items: ["/a"]) {
            fixture in
            func disposition() -> Int {
                var action = sigaction()
                sigaction(SIGTERM, nil, &action)
                return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            }
            let before = disposition()
            let says = try await Self.explain("/a", fixture).says
            #expect(says == "it is still there")
            #expect(disposition() == before)
            #expect(
                fixture.log.contains("explain of /a changed what the host does at SIGTERM; it was put back"),
                "\(fixture.log.messages)")
        }
    }

    @Test("P54, GL5: a call that does not return ends the wait, and is named")
    func hanging() async throws {
        try await withTemporaryFolder { folder in
            let until = "\(folder)/until"
            let passed = Mutex(0)
            // Time begins with the hanging call, so that no other call seems to hang.
            let clock = HostClock(
                now: { .now() }, monotonic: { .seconds(passed.withLock { $0 }) },
                sleep: { _ in
                    try await Task.sleep(for: .milliseconds(1))
                    if Files.exists("\(until).begun") { passed.withLock { $0 += 1 } }
                })
            try await withProcessorFixture(
                "fatal", settings: ["does": "hang", "in": "explain", "until": until], items: ["/a"], clock: clock
            ) { fixture in
                let watch = Task { await fixture.host.watch() }
                let failure = await #expect(throws: Failure.self) { _ = try await Self.explain("/a", fixture) }
                #expect(failure?.message == "the plugin org.example.fatal hangs: explain of /a did not return")
                try Files.write("", to: until)
                await TestSupport.until { (try? Files.text(until)) == "as it was" }
                watch.cancel()
                await watch.value
            }
        }
    }
}

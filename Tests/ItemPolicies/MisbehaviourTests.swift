import ItemPolicies
import Model
import PluginHost
import Synchronization
import TestSupport
import Testing

/// Tests that a plugin that breaks the rules harms only itself.
@Suite struct MisbehaviourTests {
    private func asked(_ fixture: ProcessorFixture) -> [String] {
        fixture.sink.intents.map { intent in
            if case .download(let id, _) = intent.change { id.text } else { "something else" }
        }
    }

    @Test("P53, G6: an error on one item does not stop the next, and what that call asked for is forgotten")
    func failing() async throws {
        try await withProcessorFixture(settings: ["mode": "fail", "match": "true"], items: ["/a", "/bad", "/c"]) {
            fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(asked(fixture) == ["id:/a", "id:/c"])
            let statuses = try fixture.calls().map(\.status)
            #expect(statuses.filter { $0 != "ok" } == ["failed"])
            #expect(fixture.log.messages.contains("warning: performAction of /bad failed: it is bad"))
        }
    }

    @Test("GL5: while a processor's call does not return the others go on; then it looks at what it missed")
    func hanging() async throws {
        try await withTemporaryFolder { folder in
            let until = "\(folder)/until"
            let passed = Mutex(0)
            // So little time passes after the hanging call was found that no other call seems to hang.
            let clock = HostClock(
                now: { .now() }, monotonic: { .seconds(passed.withLock { $0 }) },
                sleep: { _ in
                    try await Task.sleep(for: .milliseconds(1))
                    if Files.exists("\(until).begun") { passed.withLock { $0 = min($0 + 1, 100) } }
                })
            try await withProcessorFixture(
                "fatal", settings: ["does": "hang", "in": "perform", "until": until],
                beside: ("wilful", ["mode": "fail", "match": "true"]), items: ["/a", "/bad"], clock: clock
            ) { fixture in
                let performed = { @Sendable (path: String) in
                    try Files.text(fixture.tracePath).split(separator: "\n").contains {
                        $0.contains("org.example.fatal") && $0.contains("performAction") && $0.contains("\"\(path)\"")
                    }
                }
                let watch = Task { await fixture.host.watch() }
                fixture.policies.fire(.itemListUpdateCompleted)
                await fixture.policies.waitUntilIdle()
                #expect(asked(fixture) == ["id:/a"])
                try await fixture.add("/new")
                await fixture.policies.waitUntilIdle()
                #expect(asked(fixture) == ["id:/a", "id:/new"])
                #expect(try performed("/bad") && !performed("/new"))
                #expect(
                    fixture.log.messages.count { $0.contains("org.example.fatal hangs: performAction of /bad") } == 1)
                try Files.write("", to: until)
                await TestSupport.until { (try? Files.text(until)) == "as it was" }
                // The plugin's thread takes the next call as soon as it has been told that this call has ended.
                for number in 0..<1_000 where try !performed("/new") {
                    try await fixture.add("/later \(number)")
                    await fixture.policies.waitUntilIdle()
                }
                #expect(try performed("/new"))
                watch.cancel()
                await watch.value
            }
        }
    }

    @Test("G6: an unknown status is a failure: counted, and named")
    func unknownStatus() async throws {
        try await withProcessorFixture(settings: ["mode": "unknown", "match": "true"], items: ["/bad", "/c"]) {
            fixture in
            for _ in 0..<2 {
                fixture.policies.fire(.itemListUpdateCompleted)
                await fixture.policies.waitUntilIdle()
            }
            #expect(asked(fixture) == ["id:/c", "id:/c"])
            #expect(fixture.log.contains("performAction of /bad returned the unknown status 42"))
            let report = try #require(await fixture.host.reports().first { $0.id == PluginID("org.example.wilful") })
            #expect(report.state == .running)
            #expect(
                report.reason
                    == "unknown statuses: 2; the last time: performAction of /bad returned the unknown status 42")
        }
    }

    @Test(
        "G6: a wish without a key, text that is not UTF-8, an item that there is not: refused with the status, and named",
        arguments: [
            ("no key", ["no key -2"], "refused actions.download during performAction: the key is missing"),
            (
                "no text", ["no text -2", "no text -2"],
                "refused log.write during performAction: the message is not UTF-8"
            ),
            ("no item", ["no item -3"], ""),
        ])
    func refused(mode: String, said: [String], named: String) async throws {
        try await withProcessorFixture(settings: ["mode": mode, "match": "true"], items: ["/a"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.filter { $0.hasPrefix("info") } == said.map { "info: \($0)" })
            #expect(fixture.log.contains(named) || named.isEmpty)
            #expect(fixture.sink.intents.isEmpty)
        }
    }

    @Test("G6, GL3: a call from another thread than the one that it was called on is refused, and counted")
    func wrongThread() async throws {
        try await withProcessorFixture(settings: ["mode": "thread", "match": "true"], items: ["/a", "/b", "/c"]) {
            fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.messages.filter { $0 == "info: thread -11" }.count == 3)
            #expect(fixture.log.contains("refused actions.download: called from a thread on which no call"))
            #expect(fixture.sink.intents.isEmpty)
            let report = try #require(await fixture.host.reports().first { $0.id == PluginID("org.example.wilful") })
            #expect(report.state == .degraded)
            #expect(
                report.reason
                    == """
                    calls from a wrong thread: 3; the last time: 3 calls from a wrong thread, the first: \
                    refused actions.download: called from a thread on which no call into the plugin is under way
                    """
            )
            // The run left no work of the plugin undone.
            #expect(fixture.policies.takeFailures().isEmpty)
        }
    }

    @Test("G19: calls that fail are one warning a run, with their number and the first, and a failure of the run")
    func allFail() async throws {
        try await withProcessorFixture(settings: ["mode": "fails", "match": "true"], items: ["/a", "/b", "/c"]) {
            fixture in
            for _ in 0..<2 {
                fixture.policies.fire(.itemListUpdateCompleted)
                await fixture.policies.waitUntilIdle()
            }
            let said = "3 failed calls, the first: performAction of /a failed: failed"
            let warnings = fixture.log.messages.filter { $0.hasPrefix("warning") && $0.contains("performAction") }
            #expect(warnings == ["warning: \(said)", "warning: \(said)"])
            let failures = fixture.policies.takeFailures()
            #expect(failures.count == 2 && failures.allSatisfy { $0.kind == .failed && $0.message.contains(said) })
            #expect(failures.first?.message.hasPrefix("org.example.wilful, in its run for itemListUpdateC") == true)
            let report = try #require(await fixture.host.reports().first { $0.id == PluginID("org.example.wilful") })
            #expect(report.state == .degraded && report.reason == "failed calls: 6; the last time: \(said)")
        }
    }

    @Test("G19: a plugin that merely hands on what a service refused has the service's reason")
    func handedOn() async throws {
        let settings = ["mode": "hands on", "match": "true"]
        try await withProcessorFixture(settings: settings, items: ["/a"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(
                fixture.log.contains("performAction of /a failed: actions.download: the key is missing"),
                "\(fixture.log.messages)")
        }
    }

    @Test("G19: a service that was asked for and not declared is named, once")
    func undeclared() async throws {
        try await withProcessorFixture(settings: ["match": "true"], items: ["/a"]) { fixture in
            let named = fixture.log.messages.filter { $0.contains("larder.clock/1") }
            #expect(
                named == [
                    """
                    warning: it asked for the service larder.clock/1 and does not get it: \
                    its description names it neither as required nor as wanted
                    """
                ])
        }
    }

    @Test("G6: a service that is for runs is refused in start")
    func early() async throws {
        try await withProcessorFixture(settings: ["mode": "early"]) { fixture in
            #expect(fixture.log.contains("early -12"))
            #expect(fixture.log.contains("refused actions.download: not allowed during start"))
        }
    }

    @Test("G11: a plugin that does not start is refused with its own words; the host runs on")
    func noStart() async throws {
        try await withProcessorFixture(settings: ["mode": "no start"], items: ["/a"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let report = try #require(await fixture.host.reports().first { $0.id == PluginID("org.example.wilful") })
            #expect(report.state == .refused)
            #expect(report.reason == "it did not start: the archive is not mounted")
        }
    }

    @Test("G6: a condition that does not parse is named, and as if absent")
    func condition() async throws {
        try await withProcessorFixture(settings: ["match": "size > ", "cleanup": "true"], items: ["/a"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let names = try fixture.names()
            #expect(!names.contains("beginMatching"))
            #expect(names.contains("performCleanup /a"))
            // The condition is also the processor's policy condition.
            #expect(
                fixture.log.contains(
                    "2 failed calls, the first: the policy condition for itemListUpdateCompleted is not valid: column"))
            let failures = fixture.policies.takeFailures()
            #expect(failures.count == 1 && failures[0].message.contains("the policy condition for"))
        }
    }
}

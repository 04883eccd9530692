import Database
import Glibc
import ItemPolicies
import Model
import PluginHost
import TestSupport
import Testing

/// Tests of what a plugin's calls may not do to the process, as far as the host puts it back.
@Suite(.serialized) struct HarmTests {
    @Test(
        "G41: what a call changed of the process is put back, counted and named with its item",
        arguments: [
            ("ignore", "changed what the host does at SIGTERM; it was put back"),
            ("unhandle", "changed what the host does at SIGSEGV; it was put back"),
            ("set alarm", "left a timer whose signal would end the host; it was stopped"),
            ("fork and exec", nil),
        ])
    func putBack(does: String, said: String?) async throws {
        try await withProcessorFixture("fatal", settings: ["does": does, "in": "perform"], items: ["/a", "/bad"]) {
            fixture in
            let before = [SIGTERM, SIGSEGV].map(Self.disposition)
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect([SIGTERM, SIGSEGV].map(Self.disposition) == before)
            #expect(alarm(0) == 0)
            let failures = fixture.policies.takeFailures().map(\.message)
            guard let said else { return #expect(failures.isEmpty, "\(failures)") }
            #expect(failures.count == 1 && failures[0].contains("performAction of /bad \(said)"), "\(failures)")
        }
    }

    @Test("G41: what is found only after many calls is not laid to one item")
    func foundLate() async throws {
        let items = (10..<30).map { "/\($0)" } + ["/bad", "/c"]
        try await withProcessorFixture("fatal", settings: ["does": "ignore", "in": "perform"], items: items) {
            fixture in
            let before = Self.disposition(of: SIGTERM)
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(Self.disposition(of: SIGTERM) == before)
            let failures = fixture.policies.takeFailures().map(\.message)
            let said = " or a call before it changed what the host does at SIGTERM; it was put back"
            #expect(failures.count == 1 && failures[0].contains(said), "\(failures)")
        }
    }

    /// Returns the address of a signal's handler.
    private static func disposition(of signal: Int32) -> Int {
        var action = sigaction()
        sigaction(signal, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    }

    @Test("G43: a plugin whose calls take memory and never free it is named")
    func leak() async throws {
        let items = (0..<30).map { "/\($0)" }
        try await withProcessorFixture(settings: ["mode": "leak", "match": "true"], items: items) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(fixture.log.contains("the memory of the host has grown by "), "\(fixture.log.messages)")
            #expect(fixture.log.messages.count { $0.contains("it may not free what it takes") } == 1)
        }
    }

    private static let failedBegins = [
        ("updates fail", "updatePolicies"), ("preflight fails", "performPreflightOnPolicies"),
        ("kv fails", "willEnterTrigger"),
    ]

    @Test("G44: after a failed begin, matching and cleanup are left out of that run", arguments: failedBegins)
    func failedBegin(mode: String, call: String) async throws {
        try await withProcessorFixture(
            settings: ["mode": mode, "match": "true", "cleanup": "true"], items: ["/a"]
        ) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let names = try fixture.names()
            #expect(!names.contains("performAction /a") && !names.contains("performCleanup /a"), "\(names)")
            #expect(names.contains("didPassTrigger"), "\(names)")
            #expect(
                fixture.log.contains("Matching and cleanup are left out of this run, because \(call) failed"))
            #expect(fixture.sink.intents.isEmpty)
        }
    }

    @Test("G43: values that would take more than the quota are refused with the setting's name; smaller ones fit again")
    func valueQuota() async throws {
        let settings = ["mode": "hoard", "match": "true"]
        try await withProcessorFixture(settings: settings, valueQuota: 63_500, items: ["/a"]) { fixture in
            for _ in 0..<2 {
                fixture.policies.fire(.itemListUpdateCompleted)
                await fixture.policies.waitUntilIdle()
            }
            // Of 70 values 63 fit with their keys, and as many when the run is repeated.
            let said = fixture.log.messages.filter { $0.hasPrefix("info") }
            let once = ["info: taken 63", "info: again 0", "info: full -8", "info: room 0"]
            #expect(said == once + once)
            #expect(fixture.log.contains("`value-quota` is 63500"))
            let stored = try await fixture.database.read {
                try $0.plugins.valueSize(of: PluginID("org.example.wilful"), key: nil)
            }
            #expect(stored == 63 * 1_001)
        }
    }

    @Test("G43: a plugin adds no policies of its kind beyond ten thousand")
    func policyQuota() async throws {
        let settings = ["mode": "rules", "match": "true"]
        try await withProcessorFixture(settings: settings, items: ["/a", "/b"]) { fixture in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let stored = try await fixture.database.read { try $0.policies.all(kind: PolicyKind("wilful")).count }
            #expect(stored == 10_000)
            let said = fixture.log.messages.filter { $0.hasPrefix("info: rules") }
            #expect(said == ["info: rules 6000", "info: rules 4000"], "\(said)")
            #expect(fixture.log.contains("more than 10000 policies of the kind wilful"))
        }
    }
}

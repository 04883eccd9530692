import Database
import ItemPolicies
import Model
import TestSupport
import Testing

/// Tests of the items that a processor covers, by its stored policies and by its own policy condition.
@Suite struct CoverageTests {
    private let plugin = PluginID("org.example.wilful")

    @Test("P60: the policy condition is asked after willEnterTrigger, in each run, and joined with the stored policies")
    func learnt() async throws {
        let settings = ["mode": "learns", "match": #"path == "/a""#]
        try await withProcessorFixture(settings: settings) { fixture in
            let (a, b, c) = (try await fixture.add("/a"), try await fixture.add("/b"), try await fixture.add("/c"))
            await fixture.policies.waitUntilIdle()
            // The processor has no policy condition of its own before its first trigger.
            #expect(try fixture.policies.covers(a, for: plugin) == true)
            #expect(try fixture.policies.covers(b, for: plugin) == false)
            let policy = try await fixture.database.write { transaction in
                try transaction.policies.add(
                    ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/b""#), by: .somebody,
                    runsTrigger: false)
            }
            // No run has followed, but the processor's own policy condition still holds.
            #expect(try fixture.policies.covers(a, for: plugin) == true)
            #expect(try fixture.policies.covers(b, for: plugin) == true)
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.policies.covers(a, for: plugin) == true)
            #expect(try fixture.policies.covers(b, for: plugin) == true)
            #expect(try fixture.policies.covers(c, for: plugin) == false)
            try await fixture.database.write { try $0.policies.remove(policy.id, by: .somebody, runsTrigger: false) }
            #expect(try fixture.policies.covers(a, for: plugin) == true)
            #expect(try fixture.policies.covers(b, for: plugin) == false)
        }
    }

    @Test(
        "P60: what only a policy covered that has gone since is covered no more, though the plugin was not asked again")
    func gone() async throws {
        try await withProcessorFixture(settings: ["match": "true"]) { fixture in
            let policy = try await fixture.database.write { transaction in
                try transaction.policies.add(
                    ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/a""#), by: .somebody)
            }
            let (a, b) = (try await fixture.add("/a"), try await fixture.add("/b"))
            await fixture.policies.waitUntilIdle()
            try await fixture.database.write { try $0.policies.remove(policy.id, by: .somebody, runsTrigger: false) }
            #expect(try fixture.policies.covers(a, for: plugin) == false)
            #expect(try fixture.policies.covers(b, for: plugin) == true)
        }
    }

    @Test("P60: before its first run it is not known what a plugin covers by itself; what a policy covers is")
    func unknown() async throws {
        let settings = ["match": "true", "triggers": "\(1 << Trigger.syncCapacity.rawValue)"]
        try await withProcessorFixture(settings: settings) { fixture in
            let (a, b) = (try await fixture.add("/a"), try await fixture.add("/b"))
            _ = try await fixture.database.write { transaction in
                try transaction.policies.add(
                    ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/a""#), by: .somebody)
            }
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.policies.covers(a, for: plugin) == true)
            #expect(try fixture.policies.covers(b, for: plugin) == nil)
            fixture.policies.fire(.syncCapacity)
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.policies.covers(b, for: plugin) == true)
        }
    }
}

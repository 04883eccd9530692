import Database
import ItemPolicies
import Model
import TestSupport
import Testing

/// What a processor covers: what its stored policies say, and what it says itself.
@Suite struct CoverageTests {
    private let plugin = PluginID("org.example.wilful")

    @Test("P60: the policy condition is asked after willEnterTrigger, in each run, and joined with the stored policies")
    func learnt() async throws {
        let settings = ["mode": "learns", "match": #"path == "/a""#]
        try await withWorkbench(settings: settings) { bench in
            let (a, b, c) = (try await bench.add("/a"), try await bench.add("/b"), try await bench.add("/c"))
            await bench.policies.waitUntilIdle()
            // It says nothing before it has entered its first trigger.
            #expect(try bench.policies.covers(a, for: plugin) == true)
            #expect(try bench.policies.covers(b, for: plugin) == false)
            let policy = try await bench.database.write { transaction in
                try transaction.policies.add(
                    ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/b""#), by: .somebody,
                    runsTrigger: false)
            }
            // No run has followed; what it covers by itself holds all the same.
            #expect(try bench.policies.covers(a, for: plugin) == true)
            #expect(try bench.policies.covers(b, for: plugin) == true)
            bench.policies.fire(.itemListUpdateCompleted)
            await bench.policies.waitUntilIdle()
            #expect(try bench.policies.covers(a, for: plugin) == true)
            #expect(try bench.policies.covers(b, for: plugin) == true)
            #expect(try bench.policies.covers(c, for: plugin) == false)
            try await bench.database.write { try $0.policies.remove(policy.id, by: .somebody, runsTrigger: false) }
            #expect(try bench.policies.covers(a, for: plugin) == true)
            #expect(try bench.policies.covers(b, for: plugin) == false)
        }
    }

    @Test(
        "P60: what only a policy covered that has gone since is covered no more, though the plugin was not asked again")
    func gone() async throws {
        try await withWorkbench(settings: ["match": "true"]) { bench in
            let policy = try await bench.database.write { transaction in
                try transaction.policies.add(
                    ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/a""#), by: .somebody)
            }
            let (a, b) = (try await bench.add("/a"), try await bench.add("/b"))
            await bench.policies.waitUntilIdle()
            try await bench.database.write { try $0.policies.remove(policy.id, by: .somebody, runsTrigger: false) }
            #expect(try bench.policies.covers(a, for: plugin) == false)
            #expect(try bench.policies.covers(b, for: plugin) == true)
        }
    }

    @Test("P60: before its first run it is not known what a plugin covers by itself; what a policy covers is")
    func unknown() async throws {
        let settings = ["match": "true", "triggers": "\(1 << Trigger.syncCapacity.rawValue)"]
        try await withWorkbench(settings: settings) { bench in
            let (a, b) = (try await bench.add("/a"), try await bench.add("/b"))
            _ = try await bench.database.write { transaction in
                try transaction.policies.add(
                    ItemPolicy(kind: PolicyKind("wilful"), condition: #"path == "/a""#), by: .somebody)
            }
            await bench.policies.waitUntilIdle()
            #expect(try bench.policies.covers(a, for: plugin) == true)
            #expect(try bench.policies.covers(b, for: plugin) == nil)
            bench.policies.fire(.syncCapacity)
            await bench.policies.waitUntilIdle()
            #expect(try bench.policies.covers(b, for: plugin) == true)
        }
    }
}

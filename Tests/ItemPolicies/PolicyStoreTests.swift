import GRDB
import ItemPolicies
import Model
import PluginHost
import TestSupport
import Testing

@testable import Database

@Suite struct PolicyStoreTests {
    private static let now = Timestamp(seconds: 1_000)

    private static func full() -> ItemPolicy {
        ItemPolicy(
            kind: PolicyKind("k"), identifier: "org.example.it", description: "for people", condition: #"path == "/ä""#,
            path: ItemPath(unchecked: "/a\u{308}"), localID: LocalID("l"),
            removeWhenNone: #"!removed && localID == "l""#,
            data: [0, 1, 255])
    }

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in try await body("\(folder)/larder.db") }
    }

    @Test("P1: a policy is all there again after the database was opened anew")
    func stored() async throws {
        try await withFolder { path in
            var database = try Database.open(path: path)
            let added = try await database.write { try $0.policies.add(Self.full(), by: .somebody) }
            // The first database is never closed, as after `kill -9`.
            database = try Database.open(path: path)
            let read = try await database.read { try $0.policies.all() }
            #expect(read == [added])
            #expect(read.first?.path?.text.utf8.count == 4)
            try database.close()
        }
    }

    @Test("P2: an update replaces exactly one policy and needs its revision; an unknown id is an error")
    func updates() async throws {
        try await withFolder { path in
            let database = try Database.open(path: path)
            let other = try await database.write {
                try $0.policies.add(ItemPolicy(kind: PolicyKind("k"), condition: "true"), by: .somebody)
            }
            var policy = try await database.write { try $0.policies.add(Self.full(), by: .somebody) }
            policy.condition = "false"
            policy.data = nil
            let updated = try await database.write { [policy] in try $0.policies.update(policy, by: .somebody) }
            #expect(updated.revision == 2)
            #expect(try await database.read { try $0.policies.all() } == [other, updated])
            let outdated = await #expect(throws: Failure.self) {
                try await database.write { [policy] in try $0.policies.update(policy, by: .somebody) }
            }
            #expect(outdated?.message.contains("was changed meanwhile") == true)
            let unknown = PolicyID("nobody")
            let removal = await #expect(throws: Failure.self) {
                try await database.write { try $0.policies.remove(unknown, by: .somebody) }
            }
            #expect(removal?.kind == .notFound)
            var stranger = policy
            stranger.id = unknown
            let update = await #expect(throws: Failure.self) {
                try await database.write { [stranger] in try $0.policies.update(stranger, by: .somebody) }
            }
            #expect(update?.kind == .notFound)
            try await database.write { try $0.policies.remove(other.id, by: .somebody) }
            #expect(try await database.read { try $0.policies.all() } == [updated])
            try database.close()
        }
    }

    @Test("P2: a condition that does not parse is not stored, nor is an id that is taken")
    func refused() async throws {
        try await withFolder { path in
            let database = try Database.open(path: path)
            let added = try await database.write { try $0.policies.add(Self.full(), by: .somebody) }
            for wrong in [
                ItemPolicy(kind: added.kind, condition: "path =="),
                ItemPolicy(kind: added.kind, condition: "true", removeWhenNone: "1 +"),
                ItemPolicy(id: added.id, kind: added.kind, condition: "true"),
            ] {
                let failure = await #expect(throws: Failure.self) {
                    try await database.write { try $0.policies.add(wrong, by: .somebody) }
                }
                #expect(failure?.kind == .badData)
            }
            #expect(try await database.read { try $0.policies.all() } == [added])
            try database.close()
        }
    }

    @Test("P3: when the store refuses a write no run follows and the processor keeps the policies that it has")
    func failedWrite() async throws {
        try await withProcessorFixture(settings: ["mode": "list"]) { fixture in
            let kind = PolicyKind("wilful")
            try await fixture.database.write { transaction in
                try transaction.policies.add(ItemPolicy(kind: kind, condition: "true"), by: .somebody)
                try transaction.db.execute(
                    sql: "CREATE TRIGGER full BEFORE INSERT ON policies BEGIN SELECT RAISE(FAIL, 'disk full'); END")
            }
            await fixture.policies.waitUntilIdle()
            let before = try fixture.calls().count
            await #expect(throws: Failure.self) {
                try await fixture.database.write {
                    try $0.policies.add(ItemPolicy(kind: kind, condition: "false"), by: .somebody)
                }
            }
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.calls().count == before)
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            #expect(try fixture.count(of: "updatePolicies") == 1)
        }
    }

    @Test("P4: policies whose identifier begins with _sys. are listed only when asked for")
    func hidden() async throws {
        try await withFolder { path in
            let database = try Database.open(path: path)
            try await database.write { transaction in
                for identifier in ["_sys.hidden", "_sysnot", nil] {
                    try transaction.policies.add(
                        ItemPolicy(kind: PolicyKind("k"), identifier: identifier, condition: "true"), by: .somebody)
                }
            }
            let shown = try await database.read { try $0.policies.all(includesInternal: false) }
            #expect(shown.map(\.identifier) == ["_sysnot", nil])
            #expect(try await database.read { try $0.policies.all().count } == 3)
            try database.close()
        }
    }

    @Test("P5: by kind and item exactly those are listed whose condition holds for it")
    func affecting() async throws {
        try await withFolder { path in
            let database = try Database.open(path: path)
            let conditions = [
                ("k", #"path.startsWith("/Photos/")"#), ("k", #"path == "/Photos/a_b""#),
                ("k", #"path == "/Photos/axb""#),
                ("other", "true"), ("k", #"lastUsed < now - duration("1s")"#),
            ]
            try await database.write { transaction in
                for (kind, condition) in conditions {
                    try transaction.policies.add(
                        ItemPolicy(kind: PolicyKind(kind), condition: condition), by: .somebody)
                }
            }
            var item = Item(localID: .random(), fileID: nil, path: ItemPath(unchecked: "/Photos/a_b"), kind: .file)
            item.lastUsed = Timestamp(seconds: 998)
            let found = try await database.read { [item] reads in
                try reads.policies.all(kind: PolicyKind("k"), affecting: item, now: Self.now).map(\.condition)
            }
            #expect(found == [conditions[0].1, conditions[1].1, conditions[4].1])
            try database.close()
        }
    }

    @Test("P52: what became of a library in the child process is remembered by its bytes and the host's minor version")
    func probes() async throws {
        try await withFolder { path in
            let database = try Database.open(path: path)
            let memory = DatabaseProbeMemory(database)
            try await memory.remember(ProbedLibrary(refusal: nil), digest: [1], hostMinor: 0)
            try await memory.remember(ProbedLibrary(refusal: "it crashed"), digest: [2], hostMinor: 0)
            #expect(try await memory.library(digest: [1], hostMinor: 0) == ProbedLibrary(refusal: nil))
            #expect(try await memory.library(digest: [2], hostMinor: 0) == ProbedLibrary(refusal: "it crashed"))
            #expect(try await memory.library(digest: [1], hostMinor: 1) == nil)
            #expect(try await memory.library(digest: [3], hostMinor: 0) == nil)
            try database.close()
        }
    }

    @Test("Q6: no policy names what policies decide, whether a program stores it or a plugin asks for it")
    func decided() async throws {
        try await withFolder { path in
            let database = try Database.open(path: path)
            var policy = ItemPolicy(kind: PolicyKind("k"), condition: "claimed")
            for _ in 0..<2 {
                do {
                    _ = try await database.write { [policy] in try $0.policies.add(policy, by: .somebody) }
                    Issue.record("\(policy) was stored")
                } catch let failure as Failure {
                    #expect(failure.kind == .badData && failure.message.contains("since policies decide"))
                }
                (policy.condition, policy.removeWhenNone) = ("true", #"availableOffline == "none""#)
            }
            #expect(try await database.read { try $0.policies.all() }.isEmpty)
            try database.close()
        }
        try await withProcessorFixture(settings: ["mode": "decides"]) { fixture async throws in
            fixture.policies.fire(.itemListUpdateCompleted)
            await fixture.policies.waitUntilIdle()
            let said = fixture.log.messages.filter { $0.hasPrefix("info") }
            #expect(said == ["info: condition -2", "info: removal -2"])
            #expect(fixture.log.contains("a policy cannot depend on availableOffline, since policies decide"))
            #expect(try await fixture.database.read { try $0.policies.all() }.isEmpty)
        }
    }
}

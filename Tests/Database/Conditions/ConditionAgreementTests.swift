import Model
import TestSupport
import Testing

@testable import Database

@Suite struct ConditionAgreementTests {
    /// The number of rounds, each of which tries 20 conditions on 10 items.
    private static let rounds = 100

    @Test("Q2: a large group that is looked up means what its terms mean one by one")
    func lookedUp() throws {
        var random = ConditionRandom()
        let seed = random.generator.seed
        var (lookedUp, matches) = (0, 0)
        for _ in 0..<300 {
            let items = (0..<10).map { random.item($0) }
            let group = (0..<random.count(upTo: 60)).map { _ in random.condition(depth: 0) }.joined(separator: " || ")
            let text = random.one(of: ["\(group)", "!removed && (\(group))", "favorite && !(\(group))"])
            let condition = try Condition(parsing: text)
            let matcher = ConditionMatcher(condition)
            lookedUp += matcher.isIndexed ? 1 : 0
            for item in items {
                let expected = condition.matches(item, now: random.now)
                #expect(
                    matcher.matches(item, now: random.now) == expected, "LARDER_TEST_SEED=\(seed): \(text), \(item)")
                matches += expected ? 1 : 0
            }
        }
        #expect(lookedUp > 0 && matches > 0)
    }

    @Test("Q2: SQL and memory agree on 20,000 random pairs of item and condition, and texts round-trip")
    func agreement() throws {
        var random = ConditionRandom()
        let seed = random.generator.seed
        var pairs = 0
        var matches = 0
        try withDatabase { database in
            var stored: [ItemRowID] = []
            for round in 0..<Self.rounds {
                let items = try database.writeBlocking { tx in
                    for id in stored { try tx.items.delete(databaseID: id) }
                    return try (0..<10).map { try tx.items.insert(random.item(round * 10 + $0)) }
                }
                stored = items.map(\.databaseID)
                for _ in 0..<20 {
                    let text = random.condition(depth: 4)
                    let condition = try Condition(parsing: text)
                    #expect(try Condition(parsing: condition.text) == condition, "LARDER_TEST_SEED=\(seed): \(text)")
                    let expected = Set(items.filter { condition.matches($0, now: random.now) }.map(\.databaseID))
                    let found = try rows(condition, now: random.now, in: database)
                    if Set(found) != expected || found.count != expected.count {
                        let differing = items.filter {
                            expected.contains($0.databaseID) != found.contains($0.databaseID)
                        }
                        Issue.record("LARDER_TEST_SEED=\(seed): \(text) is answered differently for \(differing)")
                    }
                    pairs += items.count
                    matches += expected.count
                }
            }
        }
        #expect(pairs >= 10_000)
        // The test is meaningful only if neither all nor none of the pairs match.
        #expect(matches > pairs / 10 && matches < pairs * 9 / 10)
    }

    @Test("Q2: SQL and memory agree about what policies and claims decide, with each other and with what items show")
    func decisions() throws {
        var random = ConditionRandom()
        var (pairs, matches, changes) = (0, 0, 0)
        var levels: [AvailableOfflineLevel: Int] = [:]
        for _ in 0..<40 {
            try withDatabase { database in
                let items = try Self.fill(database, &random)
                let known = try Decided(database, at: random.now)
                for _ in 0..<20 {
                    random.asksForDecisions = true
                    let text = random.condition(depth: 3)
                    random.asksForDecisions = false
                    let query = try ItemCondition(parsing: text)
                    let facts = known.facts
                    let condition = query.resolved { () -> ConditionFacts in facts }
                    #expect(condition.text == query.text)
                    let found = try rows(condition, now: random.now, in: database)
                    for item in items {
                        let holds = try known.holds(text, item)
                        let isChanging = known.agrees(condition, item, holds, found)
                        if isChanging == nil {
                            Issue.record("LARDER_TEST_SEED=\(random.generator.seed): \(text), \(item)")
                        }
                        levels[known.coverage.of(item), default: 0] += 1
                        pairs += 1
                        matches += holds ? 1 : 0
                        changes += isChanging == true ? 1 : 0
                    }
                }
            }
        }
        #expect(matches > pairs / 10 && matches < pairs * 9 / 10 && changes > 0)
        // Each level occurs, or the test would tell nothing about it.
        #expect(levels.count == 3 && levels.values.allSatisfy { $0 > pairs / 50 }, "\(levels)")
    }

    /// Stores items, policies and claims.
    private static func fill(_ database: Database, _ random: inout ConditionRandom) throws -> [Item] {
        let author = PolicyAuthor.person("ada", at: random.now)
        let items = (0..<10).map { random.item($0) }
        let policies = (0..<random.count(upTo: 6)).map { _ in random.policy(among: items) }
        let claims = (0..<random.count(upTo: 6)).map { random.claim($0, among: items) }
        return try database.writeBlocking { tx in
            for policy in policies { try tx.policies.add(policy, by: author) }
            for claim in claims { try tx.claims.add(claim) }
            return try items.map { try tx.items.insert($0) }
        }
    }

    /// What stored policies and claims decide, once as conditions, and once as items show it.
    private struct Decided {
        let facts: ConditionFacts
        let coverage: AvailableOfflineCoverage
        let claims: [LocalID: ClaimKinds]
        let now: Timestamp

        init(_ database: Database, at now: Timestamp) throws {
            let world = ConditionRandom.world(at: now)
            facts = try database.readBlocking { try ConditionFacts($0, world: world) }
            coverage = try database.readBlocking { try AvailableOfflineCoverage($0, now: now) }
            claims = try database.readBlocking { try $0.claims.kinds(in: world) }
            self.now = now
        }

        /// Tells whether an item meets a condition in which its own values stand for what is decided.
        func holds(_ text: String, _ item: Item) throws -> Bool {
            let level = "'\(coverage.of(item).rawValue)'"
            let isClaimed = claims[item.localID] == nil ? "false" : "true"
            let known = text.replacing("availableOffline", with: level).replacing("claimed", with: isClaimed)
            return try Condition(parsing: known).matches(item, now: now)
        }

        /// Returns whether the result changes with time; nil if an evaluation does not come to the given result.
        func agrees(_ condition: Condition, _ item: Item, _ holds: Bool, _ found: [ItemRowID]) -> Bool? {
            let part = condition.deciding(for: item, now: now)
            guard found.contains(item.databaseID) == holds, condition.matches(item, now: now) == holds,
                ConditionMatcher(condition).matches(item, now: now) == holds, part.matches(item, now: now) == holds
            else { return nil }
            guard let change = condition.nextChange(for: item, after: now) else { return false }
            return condition.matches(item, now: change.first) == holds ? nil : true
        }
    }

    @Test("Q2: one difference is seen by the comparison of both")
    func comparisonIsAlive() throws {
        try withDatabase { database in
            _ = try database.writeBlocking { tx in try tx.items.insert(fileItem("/a")) }
            #expect(try rows(.constant(true), now: Timestamp(seconds: 0), in: database).count == 1)
            #expect(try rows(.constant(false), now: Timestamp(seconds: 0), in: database).isEmpty)
        }
    }
}

/// Returns the rows that a condition's SQL selects.
func rows(_ condition: Condition, now: Timestamp, in database: Database) throws -> [ItemRowID] {
    let (sql, arguments) = ConditionSQL.compile(condition, now: now)
    return try database.readBlocking { tx in
        var ids: [ItemRowID] = []
        try tx.items.each(where: sql, arguments.map { .text($0) }) { item in
            ids.append(item.databaseID)
            return true
        }
        return ids
    }
}

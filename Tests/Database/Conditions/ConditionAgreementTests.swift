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

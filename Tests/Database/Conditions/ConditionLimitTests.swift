import GRDB
import GRDBSQLite
import Model
import TestSupport
import Testing

@testable import Database

/// Tests of conditions at the limits of the language with SQLite's strictest settings. The number of parameters is
/// limited to SQLite's own default.
@Suite struct ConditionLimitTests {
    private let noon = Timestamp(seconds: 1_795_262_400)

    /// Calls `body` with a hundred files in ten folders; `now` is noon.
    private func withItems(_ body: (AccountDatabase, [Item]) throws -> Void) throws {
        try withDatabase { database in
            let items = try database.writeBlocking { tx in
                try (0..<100).map { number in
                    var item = fileItem("/d\(number / 10)/f\(number)")
                    item.size = Int64(number)
                    item.lastUsed = noon - .seconds(Int64(number))
                    return try tx.items.insert(item)
                }
            }
            try body(database, items)
        }
    }

    /// Expects that SQL finds `matches` items and that the evaluation in memory agrees on every tenth item.
    private func expectAgreement(
        _ condition: Condition, _ items: [Item], _ database: AccountDatabase, matches: Int
    ) throws {
        let (sql, arguments) = ConditionSQL.compile(condition, now: noon)
        #expect(arguments.count <= 32_766)
        let found = try database.readBlocking { tx in
            sqlite3_limit(tx.db.sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
            var found: Set<ItemRowID> = []
            // The runs of policies use the same query.
            try tx.items.each(where: "items.removedAt IS NULL AND (\(sql))", arguments.map { .text($0) }) { item in
                found.insert(item.databaseID)
                return true
            }
            return found
        }
        #expect(found.count == matches)
        for item in items where item.databaseID.number % 10 == 8 {
            #expect(condition.matches(item, now: noon) == found.contains(item.databaseID), "\(item.path)")
        }
    }

    @Test("Q7: 10,000 policies of one kind in one group, and their negation")
    func manyPolicies() throws {
        let policies = try (0..<10_000).map { number in
            // Only the first condition matches a file by its path, and only the first five match a folder's contents.
            try Condition(parsing: #"path == "/d\#(number)/f\#(number)" || path.startsWith("/d\#(number + 5)/")"#)
        }
        try withItems { database, items in
            let group = Condition.anyOf(policies)
            let matches = items.filter { $0.path.text >= "/d5" || $0.path.text.hasPrefix("/d0/f0") }.count
            try expectAgreement(group, items, database, matches: matches)
            try expectAgreement(.not(group), items, database, matches: 100 - matches)
            try expectAgreement(.allOf([.not(.property(.removed)), group]), items, database, matches: matches)
            let known = Condition.anyOf(
                try items.prefix(30).map { try Condition(parsing: "localID == '\($0.localID)'") } + policies)
            try expectAgreement(known, items, database, matches: matches + 29)
        }
    }

    @Test("Q7: 10,000 terms of any sort, and as many in a list or a conjunction")
    func manyTerms() throws {
        try withItems { database, items in
            let sizes = (0..<10_000).map { "size == \($0 + 50)" }
            let names = (0..<40_000).map { "'f\($0 + 50)'" }.joined(separator: ", ")
            for (text, matches) in [
                (sizes.joined(separator: " || "), 50), (sizes.map { "!(\($0))" }.joined(separator: " && "), 50),
                ("name in [\(names)]", 50), ("!(name in [\(names)])", 50),
                ((0..<10_000).map { "name.endsWith('x\($0)')" }.joined(separator: " || ") + " || size == 3", 1),
                ((0..<10_000).map { "path < '/d0/\($0)'" }.joined(separator: " || "), 0),
                ((0..<10_000).map { "path != '/\($0)'" }.joined(separator: " && "), 100),
            ] {
                try expectAgreement(Condition(parsing: text), items, database, matches: matches)
            }
        }
    }

    @Test("Q7: 200 levels deep, in every shape, with long groups at each level")
    func depth() throws {
        let (size, sum) = ("size == 7", "lastUsed - (lastUsed - (")
        let shapes: [(levels: Int, matches: Int, level: (String, Int) -> String)] = [
            (
                199, 1,
                { inner, n in n % 2 == 0 ? "(\(inner)) || size == \(n + 500)" : "(\(inner)) && size < \(n + 50)" }
            ),
            (
                199, 1,
                { inner, n in n % 2 == 0 ? "size == \(n + 500) || (\(inner))" : "size < \(n + 50) && (\(inner))" }
            ),
            (100, 1, { inner, n in "!(\(inner) || size == \(n + 500))" }),
            (199, 99, { inner, n in n == 0 ? "!(\(inner))" : "!\(inner)" }),
            (
                199, 1,
                { inner, n in
                    let others = (0..<100).map { "size == \(n * 100 + $0 + 200)" }.joined(separator: " || ")
                    return n % 2 == 0 ? "(\(inner)) || \(others)" : "(\(inner)) && !(\(others))"
                }
            ),
            (1, 1, { inner, _ in "\(inner) && lastUsed - (\(sum)\(sum)\(sum)now - lastUsed))))))) < now" }),
        ]
        try withItems { database, items in
            for shape in shapes {
                let text = (0..<shape.levels).reduce(size) { shape.level($0, $1) }
                try expectAgreement(Condition(parsing: text), items, database, matches: shape.matches)
            }
        }
    }

    @Test("Q7: a text of 1 MiB is answered")
    func longest() throws {
        var text = "removed"
        var number = 100
        while text.utf8.count < (1 << 20) - 40 {
            text += number % 2 == 0 ? "||size==\(number)" : "||name=='\(number)'"
            number += 1
        }
        try withItems { database, items in
            try expectAgreement(Condition(parsing: text + "||size==5"), items, database, matches: 1)
        }
    }
}

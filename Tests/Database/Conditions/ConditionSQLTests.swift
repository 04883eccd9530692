import GRDB
import GRDBSQLite
import Model
import TestSupport
import Testing

@testable import Database

@Suite struct ConditionSQLTests {
    private let noon = Timestamp(seconds: 1_795_262_400)

    private func sql(_ text: String) throws -> String {
        ConditionSQL.compile(try Condition(parsing: text), now: noon).sql
    }

    @Test(
        "Conditions become the plainest SQL that means the same",
        arguments: [
            ("path == '/a'", "(items.path = ?)"), ("path != '/a'", "(items.path IS NOT ?)"),
            ("'/a' == path", "(items.path = ?)"), ("size == null", "(items.size IS NULL)"),
            ("10 < size", "(items.size > 10)"), ("!(size > 10)", "((items.size > 10) IS NOT TRUE)"),
            ("path.startsWith('/a/')", "(items.path >= ? AND items.path < ?)"),
            ("removed", "(items.removedAt IS NOT NULL)"),
            ("parentPath == '/a'", "(items.parentPath = ? AND items.path <> '/')"),
            ("parentPath == null", "(nullif(items.parentPath, items.path) IS NULL)"),
            ("!('uploading' in syncActivity)", "(items.syncActivity & 2 = 0)"),
            ("owner == 'ada'", "(items.owner = ?)"),
            ("!removed && favorite", "(items.removedAt IS NULL AND items.favorite = 1)"),
            ("!(removed || !favorite)", "(items.removedAt IS NULL AND items.favorite = 1)"),
            ("cloudStatus != 'cloudOnly'", "(items.cloudStatus <> 0)"),
            ("cloudStatus == 'localCopy'", "(items.cloudStatus <> 0 AND items.cloudStatus = 1)"),
            ("type in ['file', 'folder']", "(1)"), ("now < timestamp('2026-01-01T00:00:00Z')", "(0)"),
            ("lastUsed < now - duration('1h')", "(items.lastUsed < 1795258800000000000)"),
            (
                "true && removed || false && removed || favorite",
                "((0 AND items.removedAt IS NOT NULL) OR (items.favorite = 1 OR (1 AND items.removedAt IS NOT NULL)))"
            ),
        ])
    func rendering(_ text: String, _ expected: String) throws { #expect(try sql(text) == expected) }

    @Test("The text after all that begin with a prefix is the next in the order of bytes, or there is none")
    func prefixEnds() {
        #expect(textAfterAll(beginningWith: "/a/") == "/a0")
        #expect(textAfterAll(beginningWith: "a\u{7f}") == "a\u{80}")
        #expect(textAfterAll(beginningWith: "\u{d7ff}") == "\u{e000}")
        #expect(textAfterAll(beginningWith: "a\u{10ffff}\u{10ffff}") == "b")
        #expect(textAfterAll(beginningWith: "\u{10ffff}") == nil)
        #expect(textAfterAll(beginningWith: "") == nil)
    }

    @Test("Q3: the database takes text literally too, NUL included")
    func literalText() throws {
        try withDatabase { database in
            let names = ["a_b", "axb", "100%", "100x", "A_B", "e\u{301}", "\u{e9}", "it's", "\"", "\\", "new\nline"]
            let ids = try database.writeBlocking { tx in
                try names.map { try tx.items.insert(fileItem("/" + $0)).databaseID }
            }
            for (name, id) in zip(names, ids) {
                let item = Condition.Operand.property(.name)
                for place in Condition.TextPlace.allCases {
                    let test = Condition.text(.init(text: item, place: place, part: .text(.init(name))))
                    #expect(try rows(test, now: noon, in: database) == [id], "\(name) \(place)")
                }
            }
            #expect(try rows(Condition(parsing: #"name == "a_b\u0000""#), now: noon, in: database).isEmpty)
            #expect(try rows(Condition(parsing: #"name.contains("\u0000")"#), now: noon, in: database).isEmpty)
        }
    }

    @Test("Q5: empty groups are true and false in the database too")
    func emptyGroups() throws {
        try withDatabase { database in
            _ = try database.writeBlocking { tx in try tx.items.insert(fileItem("/a")) }
            for (group, count) in [(Condition.allOf([]), 1), (.anyOf([]), 0), (.all([]), 1), (.any([]), 0)] {
                #expect(try rows(group, now: noon, in: database).count == count)
                #expect(try rows(.not(group), now: noon, in: database).count == 1 - count)
            }
        }
    }
}

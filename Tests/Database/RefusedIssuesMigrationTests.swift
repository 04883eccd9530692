import GRDB
import Model
import TestSupport
import Testing

@testable import Database

@Suite("Issues of older vaults")
struct RefusedIssuesMigrationTests {
    @Test("I16: an issue for each bad name becomes one for each folder; other issues stay")
    func oneForEachFolder() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            let old = try DatabaseQueue(path: path)
            try old.writeWithoutTransaction { db in
                let before = Array(Migrations.all.prefix { !$0.contains("item.refused") })
                try Migrations.run(db, at: path, migrations: before)
                for subject in ["//a", "//b", "/x/y//c", "/x//d"] {
                    try db.execute(
                        sql: """
                            INSERT INTO issues (code, subject, message, created, failure, choices)
                            VALUES ('item.refused', ?, 'about ' || ?, 5, 1, '[]'), ('other', ?, 'm', 5, 1, '[]')
                            """, arguments: [subject, subject, subject])
                }
            }
            try old.close()
            let database = try Database.open(path: path)
            let issues = try database.readBlocking { try $0.issues.all() }
            #expect(issues.filter { $0.code == "other" }.count == 4)
            let refused = issues.filter { $0.code == "item.refused" }.sorted { $0.subject < $1.subject }
            #expect(refused.map(\.subject) == ["/", "/x", "/x/y"])
            #expect(refused[0].message.contains("2 entries of / cannot be kept here: a"))
            #expect(refused[1].message == "about /x//d")
            #expect(try database.readBlocking { try $0.issues.all(limit: 2) }.count == 2)
            try database.close()
        }
    }
}

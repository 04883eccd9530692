import GRDB
import Model
import TestSupport
import Testing

@testable import Database

/// Tests of the numbers of items, which are found without reading the rows.
struct ItemCountTests {
    @Test("The root counts as no item, and what is removed or was never on the server as none of the server's")
    func counts() throws {
        var random = SeededGenerator()
        let seed: Comment = "LARDER_TEST_SEED=\(random.seed)"
        try withDatabase { database in
            try database.writeBlocking { tx in
                #expect(try tx.items.counts().items == 0 && tx.items.knownCount() == 0)
                for number in 0..<60 {
                    // The root is one of them, sooner or later.
                    let path = ItemPath(unchecked: number == 20 ? "/" : "/\(number)")
                    var item = Item(localID: .random(), fileID: FileID("\(number)"), path: path, kind: .file)
                    if Bool.random(using: &random) { item.fileID = nil }
                    if Bool.random(using: &random) { item.removedAt = Timestamp(seconds: 1) }
                    try tx.items.insert(item)
                    func counted(_ condition: String) throws -> Int? {
                        try Int.fetchOne(
                            tx.db,
                            sql: "SELECT count(*) FROM items WHERE removedAt IS NULL AND path <> '/' AND \(condition)")
                    }
                    let (items, known) = (try tx.items.counts().items, try tx.items.knownCount())
                    #expect(try counted("true") == Int(items) && counted("fileID IS NOT NULL") == known, seed)
                }
            }
        }
    }

    @Test("To count items and records, indexes are read and no row")
    func plans() throws {
        try withDatabase { database in
            try database.writeBlocking { tx in
                for sql in [
                    "SELECT count(*) FROM items", "SELECT count(*) FROM syncRecords",
                    "SELECT count(*) FROM items INDEXED BY items_removed WHERE removedAt IS NOT NULL",
                ] {
                    let details = try Row.fetchAll(tx.db, sql: "EXPLAIN QUERY PLAN \(sql)").map {
                        $0["detail"] as String
                    }
                    #expect(details.allSatisfy { $0.contains("COVERING INDEX") }, "\(details)")
                }
            }
        }
    }

    @Test("Folders that the server has elsewhere are looked for among the removed items alone")
    func planOfMetFolders() throws {
        try withDatabase { database in
            try database.writeBlocking { tx in
                let plan = try Row.fetchAll(tx.db, sql: "EXPLAIN QUERY PLAN \(ItemQuery.foldersMetElsewhere)")
                #expect(plan.allSatisfy { !($0["detail"] as String).hasPrefix("SCAN") }, "\(plan)")
                #expect(try tx.items.foldersMetElsewhere().isEmpty)
            }
        }
    }

    @Test("The records are counted by the states that are told, whatever they wait for")
    func recordCounts() throws {
        var random = SeededGenerator()
        let seed: Comment = "LARDER_TEST_SEED=\(random.seed)"
        try withDatabase { database in
            try database.writeBlocking { tx in
                #expect(try tx.journal.counts().isEmpty)
                for number in 0..<120 {
                    func column(_ value: String) -> String {
                        Int.random(in: 0..<4, using: &random) == 0 ? value : "NULL"
                    }
                    let state = Bool.random(using: &random) ? 1 : Int.random(in: 0...4, using: &random)
                    let waits = "\(column("5")), \(column("7")), \(column("0")), \(column("x'00'"))"
                    try tx.db.execute(
                        sql: """
                            INSERT INTO syncRecords (action, state, localID, path, reason, whileCovered, since, attempts,
                              rounds, mayHaveArrived, waitUntil, waitIssue, waitPlace, landingDigest)
                            VALUES ('download', \(state), '\(number)', '/', 'user', 0, 0, 0, 0, 0, \(waits))
                            """)
                    if number % 7 == 6 { try tx.db.execute(sql: "DELETE FROM syncRecords WHERE id = \(number - 3)") }
                    let told = try Row.fetchAll(tx.db, sql: "SELECT * FROM syncRecords").compactMap(toldState)
                    #expect(try tx.journal.counts() == Dictionary(told.map { ($0, 1) }, uniquingKeysWith: +), seed)
                }
            }
        }
    }

    private func toldState(_ row: Row) -> SyncRecord.State? {
        func has(_ column: String) -> Bool { row[column] as DatabaseValue? != .null }
        if has("waitUntil") { return .pending }
        if has("waitIssue") { return .failed }
        if has("waitPlace") { return .pending }
        return has("landingDigest") ? .completed : SyncRecord.State(rawValue: row["state"])
    }
}

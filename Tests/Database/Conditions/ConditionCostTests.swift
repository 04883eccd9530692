import GRDB
import GRDBSQLite
import Glibc
import Model
import TestSupport
import Testing

@testable import Database

/// Tests of the cost of conditions, in SQLite's own counts, over a database of many items. `LARDER_TEST_ITEMS` sets the
/// number of items.
@Suite struct ConditionCostTests {
    /// The number of items, with a hundred files in each folder. Every 50th file has a local copy, and every second of
    /// these copies is for available-offline. Every 200th is older than the server's, and every 1,000th is gone from
    /// the server.
    private static let count = getenv("LARDER_TEST_ITEMS").flatMap { Int(String(cString: $0)) } ?? 50_000
    private static var folders: Int { count / 100 }
    private static var copies: Int { count / 50 }
    private static let now = Timestamp(seconds: 1_795_262_400)

    private func fill(_ database: AccountDatabase) throws {
        let day: Int64 = 86_400_000_000_000
        try database.writeBlocking { tx in
            try tx.db.execute(
                sql: """
                    WITH RECURSIVE
                      number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < \(Self.count)),
                      row(n, folder, here) AS (SELECT n, printf('/folder-%05d', n / 100), n % 50 = 0 FROM number)
                    INSERT INTO items (
                      localID, path, parentPath, name, type, size, etag, etagStrength, lastModified, removedAt,
                      cloudStatus, copyETag, copyETagStrength, copySize, downloadTrigger, lastUsed, anchor)
                    SELECT printf('id-%07d', n), folder || printf('/file-%07d', n), folder, printf('file-%07d', n), 0,
                      n % 1000, 'e', 0, \(Self.now.nanoseconds - day), iif(n % 1000 = 7, \(Self.now.nanoseconds), NULL),
                      here, iif(here, iif(n % 200 = 0, 'old', 'e'), NULL), iif(here, 0, NULL),
                      iif(here, n % 1000, NULL),
                      iif(here, iif(n % 100 = 0, 'availableOffline', 'user'), NULL),
                      iif(here, \(Self.now.nanoseconds) - n % 30 * \(day), NULL), 1
                    FROM row
                    """)
        }
    }

    struct Cost {
        var rows = 0
        /// The rows of a table or an index that SQLite stepped over without a search.
        var scanned: Int
        var steps: Int
        var sorts: Int
        var plan: String
    }

    private func cost(
        _ text: String, _ order: String, in database: AccountDatabase
    ) throws -> Cost {
        let (sql, arguments) = ConditionSQL.compile(try Condition(parsing: text), now: Self.now)
        return try database.readBlocking { tx in
            let query = "SELECT items.path FROM items WHERE \(sql)\(order)"
            let explained = try RawStatement(tx.db, "EXPLAIN QUERY PLAN " + query, isCached: false)
            explained.bind(arguments.map { .text($0) })
            var lines: [String] = []
            while try explained.step() { lines.append(explained.text(3) ?? "") }
            let statement = try RawStatement(tx.db, query, isCached: false)
            statement.bind(arguments.map { .text($0) })
            var rows = 0
            while try statement.step() { rows += 1 }
            let status = { (counter: Int32) in Int(sqlite3_stmt_status(statement.handle, counter, 0)) }
            return Cost(
                rows: rows, scanned: status(SQLITE_STMTSTATUS_FULLSCAN_STEP), steps: status(SQLITE_STMTSTATUS_VM_STEP),
                sorts: status(SQLITE_STMTSTATUS_SORT), plan: lines.joined(separator: "\n"))
        }
    }

    /// A condition, the number of items that match it, and the number of items whose index entries or rows are read.
    struct Case: CustomTestStringConvertible {
        var text: String
        var order = ""
        var rows: Int?
        var looked: Int
        /// Whether a partial index is read as a whole. Each of its entries then counts as a read item.
        var readsIndex = false
        var testDescription: String { String(text.prefix(120)) }
    }

    private static func pins(_ count: Int) -> String {
        (0..<count).map { number in
            let digits = String(number)
            let folder = "/folder-" + String(repeating: "0", count: 5 - digits.count) + digits
            return "path == \"\(folder)\" || path.startsWith(\"\(folder)/\")"
        }.joined(separator: " || ")
    }

    private static let mayGo =
        "cloudStatus == 'localCopy' && type == 'file' && !removed && downloadTrigger != 'availableOffline' "
        + "&& downloadTrigger != 'org.larder.rules'"
    private static let isOurs = "downloadTrigger == \"availableOffline\""
    /// Returns the condition with which available-offline matches items.
    private static func match(_ pins: String) -> String {
        "!removed && (cloudStatus == \"cloudOnly\" || type == \"file\" && cloudStatus == \"localCopy\" && "
            + "(!(\(isOurs)) || remoteVersion == \"newer\")) && (\(pins))"
    }
    private static func cleanup(_ pins: String) -> String {
        "!removed && cloudStatus == \"localCopy\" && \(isOurs) && !(\(pins))"
    }

    static let cases: [Case] = [
        Case(text: "path.startsWith('/folder-00007/')", rows: 100, looked: 100),
        Case(text: "!removed && path.startsWith('/folder-00007/') && size > 10", looked: 100),
        Case(text: "path == '/folder-00007/file-0000700'", rows: 1, looked: 1),
        Case(text: "localID == 'id-0000700'", rows: 1, looked: 1),
        Case(text: "!removed && localID == 'id-0000700'", rows: 1, looked: 1),
        Case(
            text: "cloudStatus == 'localCopy' && lastUsed < now - duration('168h')", rows: nil,
            looked: copies * 2 / 3 + 1),
        Case(text: "cloudStatus == 'localCopy' && lastUsed < now - duration('10000h')", rows: 0, looked: 0),
        Case(text: "cloudStatus == 'localCopy'", rows: copies, looked: copies),
        Case(text: "cloudStatus == 'locallyModified'", rows: 0, looked: 0),
        Case(text: "!removed && cloudStatus != 'cloudOnly'", rows: copies, looked: copies, readsIndex: true),
        Case(text: "remoteVersion == 'newer'", rows: copies / 4, looked: copies, readsIndex: true),
        Case(
            text: "!removed && cloudStatus == 'localCopy' && remoteVersion == 'newer'", rows: copies / 4,
            looked: copies),
        Case(text: "removed", rows: count / 1_000, looked: count / 1_000, readsIndex: true),
        Case(
            text: "removed && cloudStatus == 'cloudOnly' && lastModified < now && size != null", rows: count / 1_000,
            looked: count / 1_000, readsIndex: true),
        Case(text: "removed && cloudStatus != 'cloudOnly'", rows: 0, looked: count / 1_000, readsIndex: true),
        // Vacuum, download-expiration and version-updates use these conditions.
        Case(text: "removed && removedAt < now - duration('60000ms')", rows: 0, looked: 0),
        Case(
            text: "\(mayGo) && lastUsed < now - duration('168h') || \(mayGo) && lastUsed == null && "
                + "(lastModified == null || lastModified < now - duration('168h'))", looked: copies * 2 / 3 + 1),
        Case(
            text: "remoteVersion == 'newer' && cloudStatus == 'localCopy' && type == 'file' && !removed && "
                + "downloadTrigger != 'availableOffline' && downloadTrigger != 'org.larder.rules'", rows: 0,
            looked: copies),
        Case(text: "cloudStatus == 'localCopy'", order: " ORDER BY items.lastUsed LIMIT 10", rows: 10, looked: 10),
        Case(text: "cloudStatus == 'localCopy'", order: " ORDER BY items.lastUsed DESC LIMIT 10", rows: 10, looked: 10),
        Case(
            text: "!removed && type == 'file' && cloudStatus == 'localCopy' && downloadTrigger != 'availableOffline' "
                + "&& downloadTrigger != 'org.larder.rules'",
            order: " ORDER BY items.lastUsed LIMIT 10", rows: 10, looked: 40),
        Case(
            text: "cloudStatus == 'localCopy' && lastUsed < now - duration('168h')",
            order: " ORDER BY items.lastUsed LIMIT 10", rows: 10, looked: 10),
        Case(text: pins(10), rows: 1_000, looked: 1_000),
        Case(text: pins(10_000), rows: min(count, 1_000_000), looked: min(count, 1_000_000) + 20_000),
        Case(text: match(pins(10)), rows: nil, looked: 1_000),
        Case(text: match(pins(10_000)), rows: nil, looked: 2 * count + 20_000),
        // Each copy is compared with each of the pins.
        Case(text: cleanup(pins(10)), looked: copies * 2),
        Case(text: cleanup(pins(10_000)), rows: 0, looked: copies + count + 20_000),
    ]

    @Test(
        "H6: conditions are answered by indexes: what they cost follows the items that match, not those that there are")
    func costs() throws {
        try withDatabase { database in
            try fill(database)
            for one in Self.cases {
                let cost = try cost(one.text, one.order, in: database)
                let shown = "\(one.testDescription)\(one.order): \(cost)"
                if let rows = one.rows { #expect(cost.rows == rows, "\(shown)") }
                #expect(cost.scanned <= (one.readsIndex ? one.looked + 1 : 0), "\(shown)")
                // A step over a row and its conditions takes some dozens of SQLite's instructions.
                #expect(cost.steps <= 60 * (one.looked + 20), "\(shown)")
                #expect(cost.sorts == 0, "\(shown)")
            }
        }
    }
}

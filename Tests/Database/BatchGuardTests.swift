import GRDB
import Model
import TestSupport
import Testing

@testable import Database

/// The guards of the statements that download small files in batches: for each term a change that makes it false.
@Suite struct BatchGuardTests {
    private static let mark = FileMark(
        inode: 7, size: 3, modified: Timestamp(seconds: 5), changed: Timestamp(seconds: 6),
        recorded: Timestamp(seconds: 7))
    private static let digest: [UInt8] = Array(repeating: 9, count: 32)

    /// Calls `body` with a download whose record and item are ordinary.
    private func withDownload(_ body: (Transaction, BatchedDownload) throws -> Void) throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                var item = Item(
                    localID: .random(), fileID: FileID("7"), path: ItemPath(unchecked: "/d/f"), kind: .file)
                (item.size, item.lastModified) = (3, Timestamp(seconds: 5))
                item.etag = ETag(opaque: "v1", strength: .strong)
                item = try tx.items.insert(item)
                let record = try tx.journal.insert(
                    SyncRecord(
                        action: .download, state: .ready, localID: item.localID, path: item.path, reason: .user,
                        since: Timestamp(seconds: 5)))
                var row: ItemRowID?
                try tx.journal.eachRow(after: .none) {
                    row = $0.item
                    return true
                }
                try body(
                    tx,
                    BatchedDownload(
                        record: record.id, item: try #require(row), path: item.path,
                        version: ETag(opaque: "v1", strength: .strong),
                        digest: Self.digest, mark: Self.mark))
            }
        }
    }

    private func isOrdinary(_ tx: Transaction) throws -> Bool {
        var isOrdinary = false
        try tx.journal.eachRow(after: .none) {
            isOrdinary = $0.isOrdinary
            return false
        }
        return isOrdinary
    }

    /// Changes after which a download does not begin in a batch.
    private static let beginnings = [
        "UPDATE syncRecords SET action = 'removeLocalCopy'", "UPDATE syncRecords SET state = 4",
        "UPDATE syncRecords SET parameters = '{}'", "UPDATE syncRecords SET waitUntil = 1",
        "UPDATE syncRecords SET waitVersion = 'v0'", "UPDATE syncRecords SET waitIssue = 1",
        "UPDATE syncRecords SET waitPlace = 1",
        "UPDATE syncRecords SET landingDigest = x'01'", "UPDATE syncRecords SET attempts = 1",
        "UPDATE syncRecords SET rounds = 1", "UPDATE syncRecords SET key = 'fetchAgain:1'",
        "UPDATE syncRecords SET path = '/d/g'", "UPDATE items SET type = 1", "UPDATE items SET removedAt = 1",
        "UPDATE items SET fileID = NULL", "UPDATE items SET cloudStatus = 1", "UPDATE items SET copyETag = 'v0'",
        "UPDATE items SET downloadTrigger = 'user'", "UPDATE items SET formerTrigger = 'user'",
        "UPDATE items SET size = NULL", "UPDATE items SET size = 1048577", "UPDATE items SET lastModified = NULL",
        "UPDATE items SET etag = NULL", "UPDATE items SET etag = ''", "UPDATE items SET etagStrength = 1",
        """
        INSERT INTO syncRecords (localID, path, action, reason, state, since)
        SELECT localID, path, 'removeLocalCopy', 'user', state, since FROM syncRecords
        """,
    ]

    /// Changes after which a download that has arrived is not journalled with others.
    private static let landings = [
        "DELETE FROM syncRecords", "UPDATE syncRecords SET action = 'removeLocalCopy'",
        "UPDATE syncRecords SET landingDigest = x'01'", "UPDATE syncRecords SET parameters = '{}'",
        "UPDATE syncRecords SET waitUntil = 1", "UPDATE syncRecords SET waitVersion = 'v0'",
        "UPDATE syncRecords SET waitIssue = 1", "UPDATE syncRecords SET waitPlace = 1",
        "UPDATE syncRecords SET localID = 'other'", "DELETE FROM items",
        "UPDATE items SET path = '/d/g'", "UPDATE items SET type = 1", "UPDATE items SET removedAt = 1",
        "UPDATE items SET etag = 'v2'", "UPDATE items SET etagStrength = 1", "UPDATE items SET cloudStatus = 1",
        "UPDATE items SET copyETag = 'v0'",
    ]

    /// Changes after which a download in place is not recorded with others.
    private static let completions = [
        "DELETE FROM syncRecords", "UPDATE syncRecords SET action = 'removeLocalCopy'",
        "UPDATE syncRecords SET landingDigest = x'01'", "UPDATE syncRecords SET landingDigest = NULL",
        "UPDATE syncRecords SET localID = 'other'", "DELETE FROM items", "UPDATE items SET cloudStatus = 1",
        "UPDATE items SET copyETag = 'v0'", "UPDATE items SET downloadTrigger = 'user'",
        "UPDATE items SET formerTrigger = 'user'",
    ]

    @Test(
        "S53: a download that is not ordinary in one respect does not begin in a batch",
        arguments: beginnings)
    func begins(_ sql: String) throws {
        try withDownload { (tx, _) throws in
            #expect(try isOrdinary(tx))
            try change(sql, in: tx)
            #expect(try !isOrdinary(tx))
        }
    }

    @Test(
        "S53: a download of which one thing has changed since it began does not land with others",
        arguments: landings)
    func lands(_ sql: String) throws {
        try withDownload { (tx, download) throws in
            try change(sql, in: tx)
            #expect(try tx.journal.setLandings(of: [download]) == [false])
        }
        try withDownload { (tx, download) throws in
            #expect(try tx.journal.setLandings(of: [download]) == [true])
            #expect(try tx.journal.setLandings(of: [download]) == [false])
        }
    }

    @Test(
        "S53: a file in place of which one thing has changed since is not recorded with others",
        arguments: completions)
    func completes(_ sql: String) throws {
        try withDownload { (tx, download) throws in
            #expect(try tx.journal.setLandings(of: [download]) == [true])
            try change(sql, in: tx)
            #expect(try tx.journal.complete([download], now: Timestamp(seconds: 9)) == [false])
        }
        try withDownload { (tx, download) throws in
            #expect(try tx.journal.setLandings(of: [download]) == [true])
            #expect(try tx.journal.complete([download], now: Timestamp(seconds: 9)) == [true])
            #expect(try tx.journal.record(id: download.record) == nil)
        }
    }
}

import GRDB
import Model
import TestSupport
import Testing

@testable import Database

/// The guards of the statements that upload small files in batches: for each term a change that makes it false.
@Suite struct UploadGuardTests {
    private static let digest: [UInt8] = Array(repeating: 9, count: 32)
    private static let mark = FileMark(
        inode: 7, size: 3, modified: Timestamp(seconds: 5), changed: Timestamp(seconds: 6),
        recorded: Timestamp(seconds: 7))
    private static let version = ETag(opaque: "v1", strength: .weak)

    /// Calls `body` with a new file whose upload is queued.
    private func withUpload(_ body: (Transaction, MadeFile) throws -> Void) throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                let path = ItemPath(unchecked: "/d/f")
                let item = try tx.items.insertPlaceholder(path, kind: .file, size: 3, activity: .uploading)
                let upload = Upload(
                    snapshot: "put-1", size: 3, digest: Self.digest, sha1: [], mark: Self.mark, modified: nil,
                    isNew: true)
                let record = try tx.journal.insert(
                    SyncRecord(
                        action: .upload(upload), state: .ready, localID: item.localID, path: path, reason: .user,
                        since: Timestamp(seconds: 5)))
                let listed = ListedItem(
                    path: path, kind: .file, etag: Self.version, size: 3, lastModified: Timestamp(seconds: 5),
                    mimeType: "text/plain")
                try body(
                    tx,
                    MadeFile(
                        record: record.id, localID: item.localID, path: path, item: listed, digest: Self.digest,
                        size: 3))
            }
        }
    }

    /// Changes after which an upload is not sent with others.
    private static let sendings = [
        "DELETE FROM syncRecords", "UPDATE syncRecords SET action = 'download'",
        "UPDATE syncRecords SET mayHaveArrived = 1", "UPDATE syncRecords SET waitUntil = 1",
        "UPDATE syncRecords SET waitVersion = 'v0'", "UPDATE syncRecords SET waitIssue = 1",
        "UPDATE syncRecords SET waitPlace = 1",
    ]

    /// Changes after which an upload is not concluded with others.
    private static let conclusions = [
        "DELETE FROM syncRecords", "UPDATE syncRecords SET action = 'download'",
        "UPDATE syncRecords SET mayHaveArrived = 0", "UPDATE syncRecords SET waitUntil = 1",
        "UPDATE syncRecords SET waitVersion = 'v0'", "UPDATE syncRecords SET waitIssue = 1",
        "UPDATE syncRecords SET waitPlace = 1", "UPDATE syncRecords SET path = '/d/g'",
        "UPDATE syncRecords SET localID = 'other'", "DELETE FROM items", "UPDATE items SET path = '/d/g'",
        "UPDATE items SET type = 1", "UPDATE items SET removedAt = 1", "UPDATE items SET fileID = '7'",
        "UPDATE items SET copiedBy = 1", "UPDATE items SET cloudStatus = 1", "UPDATE items SET copyETag = 'v0'",
        "UPDATE items SET formerETag = 'v0'", "UPDATE items SET downloadTrigger = 'user'",
        "UPDATE items SET formerTrigger = 'user'",
        """
        INSERT INTO syncRecords (localID, path, action, reason, state, since)
        SELECT localID, path, 'removeLocalCopy', 'user', state, since FROM syncRecords
        """,
    ]

    /// Changes after which the snapshot of an upload is not put in place with others.
    private static let landings = [
        "DELETE FROM syncRecords", "UPDATE syncRecords SET action = 'removeLocalCopy'",
        "UPDATE syncRecords SET landingDigest = x'01'", "UPDATE syncRecords SET landingETag = 'v0'",
        "UPDATE syncRecords SET landingETagStrength = 0", "UPDATE syncRecords SET parameters = '{}'",
        "UPDATE syncRecords SET waitUntil = 1", "UPDATE syncRecords SET waitVersion = 'v0'",
        "UPDATE syncRecords SET waitIssue = 1", "UPDATE syncRecords SET waitPlace = 1",
        "UPDATE syncRecords SET localID = 'other'", "DELETE FROM items", "UPDATE items SET path = '/d/g'",
        "UPDATE items SET type = 1", "UPDATE items SET removedAt = 1", "UPDATE items SET etag = 'v2'",
        "UPDATE items SET etagStrength = 0", "UPDATE items SET cloudStatus = 1", "UPDATE items SET copyETag = 'v0'",
    ]

    @Test(
        "S53, S35: uploads are marked as sent together, and one that waits or was sent before is left out",
        arguments: sendings)
    func sends(_ sql: String) throws {
        try withUpload { (tx, file) throws in
            let before = try #require(try tx.journal.record(id: file.record))
            #expect(try tx.journal.markSent([file.record]) == [file.record: before])
            let after = try #require(try tx.journal.record(id: file.record))
            #expect(after.mayHaveArrived && after.state == .processing)
        }
        try withUpload { (tx, file) throws in
            try change(sql, in: tx)
            #expect(try tx.journal.markSent([file.record]).isEmpty)
        }
    }

    @Test(
        "S53, S35: an upload of which one thing has changed since it was sent is not concluded with others",
        arguments: conclusions)
    func concludes(_ sql: String) throws {
        try withUpload { (tx, file) throws in
            _ = try tx.journal.markSent([file.record])
            try change(sql, in: tx)
            let before = try tx.items.item(localID: file.localID)
            #expect(try tx.journal.conclude([file]) == [nil])
            #expect(try tx.items.item(localID: file.localID) == before)
            #expect(try tx.journal.record(id: file.record)?.landing == nil)
        }
    }

    @Test("S53, S35: of a new file that the server holds, item and record say so, and nothing is about to be made")
    func concluded() throws {
        try withUpload { (tx, file) throws in
            _ = try tx.journal.markSent([file.record])
            let row = try #require(try tx.journal.conclude([file])[0])
            let item = try #require(try tx.items.item(localID: file.localID))
            #expect(item.databaseID == row && item.fileID == .substitute(for: file.path))
            #expect(item.etag == Self.version && item.size == 3 && item.mimeType == "text/plain")
            #expect(item.lastModified == Timestamp(seconds: 5) && item.syncActivity == .downloading)
            let record = try #require(try tx.journal.record(id: file.record))
            let landing = Landing(etag: Self.version, digest: Self.digest, size: 3, modified: Timestamp(seconds: 5))
            #expect(record.action == .download && record.landing == landing && !record.mayHaveArrived)
            #expect(record.state == .processing && record.evidence == ChangeEvidence())
            #expect(try Int.fetchOne(tx.db, sql: "SELECT count(*) FROM pendingPlaces") == 0)
            // It is concluded once.
            #expect(try tx.journal.conclude([file]) == [nil])
        }
    }

    @Test(
        "S53, S35: a snapshot is put in place with others only where its record and item are as they were concluded",
        arguments: landings)
    func lands(_ sql: String) throws {
        func download(_ file: MadeFile, _ row: ItemRowID) -> BatchedDownload {
            BatchedDownload(
                record: file.record, item: row, path: file.path, version: Self.version, digest: Self.digest,
                mark: Self.mark, isRecorded: true)
        }
        try withUpload { (tx, file) throws in
            _ = try tx.journal.markSent([file.record])
            let row = try #require(try tx.journal.conclude([file])[0])
            let landing = download(file, row)
            #expect(try tx.journal.setLandings(of: [landing]) == [true])
            #expect(try tx.journal.complete([landing], now: Timestamp(seconds: 9)) == [true])
            let item = try #require(try tx.items.item(localID: file.localID))
            #expect(item.copy == LocalCopy(etag: Self.version, digest: Self.digest, mark: Self.mark))
            #expect(item.cloudStatus == .localCopy && item.syncActivity == [] && item.remoteVersion == .current)
        }
        try withUpload { (tx, file) throws in
            _ = try tx.journal.markSent([file.record])
            let row = try #require(try tx.journal.conclude([file])[0])
            try change(sql, in: tx)
            #expect(try tx.journal.setLandings(of: [download(file, row)]) == [false])
        }
    }
}

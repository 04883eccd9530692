import GRDB
import Model
import TestSupport
import Testing

@testable import Database

/// Tests of rows with numbers that only another program or an older Larder writes.
@Suite struct BoundaryRowTests {
    @Test("H12: sizes that make no sum are reckoned with as far as numbers go")
    func sums() throws {
        try withDatabase { database in
            try database.writeBlocking { tx in
                for name in ["/a", "/b", "/c"] {
                    var item = fileItem(name)
                    item.size = .max
                    item.cloudStatus = .localCopy
                    item.copy = localCopy("1", inode: 1)
                    item.copy?.mark.size = .max
                    try tx.items.insert(item)
                    _ = try tx.journal.insert(
                        SyncRecord(
                            action: .download, localID: item.localID, path: item.path, reason: .user,
                            since: Timestamp(seconds: 0)))
                }
            }
            try database.readBlocking { reads in
                let all = ItemPolicy(kind: .availableOffline, condition: "true")
                let covered = try reads.policies.coverage(of: all, now: Timestamp(seconds: 0))
                #expect(covered.items == 3 && covered.bytes == .max)
                #expect(try reads.journal.pendingTransfers().bytes == .max)
            }
            let session = try ReadSession(database)
            #expect(try session.localUsage().localBytes == .max)
            session.close()
        }
    }

    @Test("H12: any number in a row is read, and writing goes on", arguments: BoundaryNumbers.integers)
    func rows(_ number: Int64) throws {
        try withDatabase { database in
            let id = try database.writeBlocking { tx -> Int64 in
                let issue = try tx.issues.file(
                    Issue(code: "test", subject: "a", message: "b", choices: [], created: Timestamp(seconds: 0)))
                let item = try tx.items.insert(fileItem("/a"))
                _ = try tx.journal.insert(
                    SyncRecord(
                        action: .download, localID: item.localID, path: item.path, reason: .user,
                        since: Timestamp(seconds: 0)))
                return issue.id.number
            }
            try database.writeBlocking { tx in
                try tx.db.execute(
                    sql: """
                        UPDATE issues SET failure = \(number), created = \(number) WHERE id = \(id);
                        UPDATE items SET size = \(number), lastModified = \(number), lastUsed = \(number);
                        UPDATE syncRecords SET attempts = \(number), rounds = \(number), since = \(number);
                        """)
                for key in ["nextPoll", "lastClock", "clockPassed", "lastWholeWalk", "lastScan", "firstWalk", "anchor"] {
                    try tx.meta.set(MetaKey(key), number)
                }
            }
            try database.writeBlocking { tx in
                #expect(try tx.issues.all().count == 1)
                var item = try #require(try tx.items.item(at: ItemPath("/a")))
                #expect(item.size == number)
                let record = try #require(try tx.journal.records(of: item.localID).first)
                // Each attempt increases the number by one.
                #expect((0...Int(Int32.max)).contains(record.attempts))
                #expect((0...Int(Int32.max)).contains(record.rounds))
                item.cloudStatus = .localOnly
                try tx.items.updateLocal(item)
            }
        }
    }
}

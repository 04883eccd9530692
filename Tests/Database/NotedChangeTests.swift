import Model
import TestSupport
import Testing

@testable import Database

/// Tests of the changes of other things than items that are kept for the change feed.
@Suite struct NotedChangeTests {
    private func record(_ tx: Transaction, _ path: String) throws -> SyncRecordID {
        let item = try tx.items.insert(fileItem(path))
        return try tx.journal.insert(
            SyncRecord(
                action: .download, localID: item.localID, path: item.path, reason: .user, since: Timestamp(seconds: 1))
        ).id
    }

    private func kept(_ database: Database) throws -> [NotedChanges] {
        try database.readBlocking { try $0.notedChanges.all(after: 0) }
    }

    @Test("E2: a transaction keeps its changes as one row; one that fails, or a part that fails, keeps none")
    func transactions() throws {
        try withDatabase { database in
            let ids = try database.writeBlocking { tx in try ["/a", "/b%20\"'\n"].map { try record(tx, $0) } }
            try? database.writeBlocking { tx in
                try tx.journal.delete(id: ids[0])
                throw Failure(.failed, "not so")
            }
            try database.writeBlocking { tx in
                try? tx.alone {
                    try tx.journal.delete(id: ids[0])
                    throw Failure(.failed, "not so")
                }
                try tx.journal.delete(id: ids[1])
            }
            // Nothing but items changed.
            try database.writeBlocking { _ = try $0.items.insert(fileItem("/c")) }
            let all = try kept(database)
            #expect(all.map(\.changes.count) == [2, 1])
            let gone = NotedChange(
                subject: .record(ids[1], action: "download", path: "/b%20\"'\n"), change: .removed)
            #expect(all.last?.changes == [gone])
            let newest = try database.readBlocking { try $0.tombstones.position().anchor }
            #expect(all.allSatisfy { $0.anchor < newest } && all[0].anchor < all[1].anchor)
        }
    }

    @Test("An issue that is filed again as it is, is no change")
    func filedAgain() throws {
        try withDatabase { database in
            func file(_ message: String) throws {
                let issue = Model.Issue(code: "c", subject: "s", message: message, choices: [], created: Timestamp(seconds: 1))
                _ = try database.writeBlocking { try $0.issues.file(issue) }
            }
            for message in ["one", "one", "two"] { try file(message) }
            #expect(try kept(database).map { $0.changes.map(\.change) } == [[.added], [.updated]])
        }
    }

    @Test("U7: changes are kept by their number and not by that of transactions, and older positions are not complete")
    func prune() throws {
        try withDatabase { database in
            var anchors: [Int64] = []
            for step in 0..<4 {
                try database.writeBlocking { tx in
                    for part in 0..<5 { _ = try record(tx, "/\(step)-\(part)") }
                }
                anchors.append(try database.readBlocking { try $0.tombstones.position().anchor })
            }
            func isComplete(after anchor: Int64) throws -> Bool {
                try database.readBlocking { reads in
                    var position = try reads.tombstones.position()
                    position.anchor = anchor
                    return try reads.tombstones.isComplete(after: position)
                }
            }
            for (most, left) in [(20, 4), (16, 4), (15, 3), (10, 2), (6, 2), (5, 1), (1, 1)] {
                try database.writeBlocking { try $0.tombstones.prune(now: Timestamp(seconds: 1), most: most) }
                #expect(try kept(database).count == left, "\(most)")
                for (index, anchor) in anchors.enumerated() {
                    #expect(try isComplete(after: anchor) == (index + left >= 3), "\(most) \(index)")
                }
            }
            // What comes afterwards is counted on.
            try database.writeBlocking { _ = try record($0, "/new") }
            try database.writeBlocking { try $0.tombstones.prune(now: Timestamp(seconds: 1), most: 1) }
            #expect(try kept(database).map(\.changes.count) == [1])
        }
    }
}

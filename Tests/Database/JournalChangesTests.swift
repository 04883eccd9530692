import Model
import Synchronization
import TestSupport
import Testing

@testable import Database

/// What follows from a change of a record, and of a person's files that were copied from here.
@Suite struct JournalChangesTests {
    private func record(_ action: SyncRecord.Action, _ item: Item) -> SyncRecord {
        SyncRecord(
            action: action, state: .ready, localID: item.localID, path: item.path, reason: .user,
            since: Timestamp(seconds: 5))
    }

    @Test("a record that has changed the server, and is now a download, is about no place of the server any more")
    func placesEnd() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                let item = try tx.items.insert(fileItem("/d/f"))
                var change = try tx.journal.insert(record(.setFavorite(true), item))
                #expect(try tx.journal.pendingPlaces(in: ItemPath("/d")).entries.count == 1)
                change.action = .download
                try tx.journal.update(change)
                #expect(try tx.journal.pendingPlaces(in: ItemPath("/d")).isEmpty)
                #expect(try tx.journal.record(id: change.id) != nil)
            }
        }
    }

    @Test("a record that goes takes its issue along, and the observer hears of both")
    func observer() throws {
        try withDatabase { (database) throws in
            let heard = Mutex<[CommitChanges]>([])
            let id = try database.writeBlocking { (tx) throws in
                let change = try tx.journal.insert(record(.setFavorite(true), tx.items.insert(fileItem("/f"))))
                try tx.issues.file(
                    Issue(
                        record: change.id, code: "change.refused", subject: "/f", message: "", choices: [],
                        created: Timestamp(seconds: 5)))
                return change.id
            }
            database.setCommitObserver { summary in heard.withLock { $0.append(summary) } }
            try database.writeBlocking { (tx) throws in
                try tx.journal.delete(id: id)
                #expect(try tx.issues.all().isEmpty)
            }
            let summary = try #require(heard.withLock { $0.last })
            #expect(summary.issuesChanged && summary.recordsChanged && summary.restingRecords == [id])
        }
    }

    @Test("S9: a file that was copied from here tells the version of its own item, or of its path, and of no other")
    func exported() throws {
        try withDatabase { (database) throws in
            try database.writeBlocking { (tx) throws in
                let (one, two) = (try tx.items.insert(fileItem("/one")), try tx.items.insert(fileItem("/two")))
                let versions = ["v1", "v2"].map { ETag(opaque: $0, strength: .strong) }
                for (number, version) in versions.enumerated() {
                    try tx.exports.note("/home/f", isCopyOf: one, version, at: Timestamp(seconds: Int64(number)))
                }
                #expect(try tx.exports.version(of: "/home/f", copiedFrom: one) == versions[1])
                #expect(try tx.exports.version(of: "/home/f", copiedFrom: two) == nil)
                #expect(try tx.exports.version(of: "/home/g", copiedFrom: one) == nil)
                let moved = try tx.items.move(one, to: ItemPath("/moved"))
                let comer = try tx.items.insert(fileItem("/one"))
                for item in [moved, comer] {
                    #expect(try tx.exports.version(of: "/home/f", copiedFrom: item) == versions[1])
                }
                // The oldest ones are forgotten.
                for number in 2..<5 {
                    let time = Timestamp(seconds: Int64(number))
                    try tx.exports.note("/home/\(number)", isCopyOf: two, versions[0], at: time)
                }
                try tx.exports.forgetOldest(beyond: 3)
                #expect(try tx.exports.version(of: "/home/f", copiedFrom: moved) == versions[1])
                try tx.exports.forgetOldest(beyond: 2)
                #expect(try tx.exports.version(of: "/home/f", copiedFrom: moved) == nil)
                #expect(try tx.exports.version(of: "/home/2", copiedFrom: two) == versions[0])
            }
        }
    }
}

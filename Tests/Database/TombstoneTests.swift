import Model
import TestSupport
import Testing

@testable import Database

/// What a reader of changes finds in the database: items and tombstones after an anchor, and from where on they are whole.
@Suite struct TombstoneTests {
    private func listed(_ path: String, id: String) -> Item {
        var item = fileItem(path)
        item.fileID = FileID(id)
        return item
    }

    private func position(_ database: Database) throws -> ChangePosition {
        try database.readBlocking { try $0.tombstones.position() }
    }

    /// Returns what changed after an anchor, as text: the path, and whether the item came after it, or is gone.
    private func changes(_ database: Database, after anchor: Int64) throws -> [String] {
        try database.readBlocking { tx in
            var told: [String] = []
            try tx.items.changed(after: anchor) {
                told.append("\($0.item.path)" + ($0.item.isRemoved ? " removed" : $0.came > anchor ? " came" : ""))
                return true
            }
            #expect(try tx.items.changedCount(after: anchor, limit: 100) == told.count)
            return try told + tx.tombstones.after(anchor).map { "\($0.path) gone" }
        }
    }

    @Test("U5: all that changed after an anchor is told: what came, changed, was removed, came back and was deleted")
    func after() throws {
        try withDatabase { database in
            let kept = try database.writeBlocking { try $0.items.insert(listed("/kept", id: "1")) }
            var changed = try database.writeBlocking { try $0.items.insert(listed("/changed", id: "2")) }
            let dropped = try database.writeBlocking { try $0.items.insert(listed("/dropped", id: "3")) }
            let back = try database.writeBlocking { tx in
                var item = listed("/back", id: "4")
                item.removedAt = Timestamp(seconds: 1)
                return try tx.items.insert(item)
            }
            let found = try database.writeBlocking { tx in
                var item = listed("/found", id: "6")
                item.removedAt = Timestamp(seconds: 1)
                return try tx.items.insert(item)
            }
            let before = try position(database).anchor
            #expect(try changes(database, after: 0).count == 5)
            #expect(try changes(database, after: before) == [])

            changed.isFavorite = true
            try database.writeBlocking { [changed] tx in _ = try tx.items.update(changed) }
            try database.writeBlocking { _ = try $0.items.insert(listed("/new", id: "5")) }
            try database.writeBlocking { try $0.items.delete(databaseID: dropped.databaseID) }
            try database.writeBlocking { tx in
                var item = back
                item.removedAt = nil
                try tx.items.update(item)
            }
            // As a scan does that finds it again.
            try database.writeBlocking { tx in
                try tx.items.unflagRemoved(found.databaseID)
                tx.noteUpdated(found.databaseID)
            }
            try database.writeBlocking { tx in
                var item = try #require(try tx.items.item(at: ItemPath("/new")))
                item.removedAt = Timestamp(seconds: 2)
                try tx.items.update(item)
            }
            #expect(
                try changes(database, after: before) == [
                    "/changed", "/back came", "/found came", "/new removed", "/dropped gone",
                ])
            let tombstone = try #require(try database.readBlocking { try $0.tombstones.after(before) }.first)
            #expect(
                tombstone.databaseID == dropped.databaseID && tombstone.localID == dropped.localID
                    && tombstone.kind == .file)
            #expect(kept.anchor < before)
        }
    }

    @Test("U5: no row takes the number of one that was deleted, so that nobody takes one item for another")
    func numbers() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            var database = try Database.open(path: path)
            var seen: [ItemRowID] = []
            for name in ["a", "b", "c", "d"] {
                let stored = try database.writeBlocking { tx in
                    let item = try tx.items.insert(listed("/\(name)", id: name))
                    let entry = ListedItem(path: ItemPath(unchecked: "/listed"), kind: .file)
                    let other = try tx.items.insertListed(entry, fileID: FileID("x"), racy: .no)
                    try tx.items.delete(databaseID: other)
                    try tx.items.delete(databaseID: item.databaseID)
                    return [item.databaseID, other]
                }
                seen += stored
                try database.close()
                database = try Database.open(path: path)
            }
            #expect(seen == seen.sorted { $0.number < $1.number } && Set(seen).count == seen.count)
            let gone = try database.readBlocking { try $0.tombstones.after(0).map(\.databaseID) }
            #expect(Set(gone) == Set(seen))
            try database.close()
        }
    }

    @Test("U5: a transaction that fails leaves no tombstone, and a part of one that fails leaves none either")
    func failed() throws {
        struct Stop: Error {}
        try withDatabase { database in
            let item = try database.writeBlocking { try $0.items.insert(listed("/a", id: "1")) }
            _ = try? database.writeBlocking { tx in
                try tx.items.delete(databaseID: item.databaseID)
                throw Stop()
            }
            try database.writeBlocking { tx in
                _ = try? tx.alone {
                    try tx.items.delete(databaseID: item.databaseID)
                    throw Stop()
                }
            }
            #expect(try database.readBlocking { try $0.tombstones.after(0) } == [])
        }
    }

    @Test("U7: tombstones beyond their number or age are dropped, and a position below the floor is not complete")
    func floor() throws {
        try withDatabase { database in
            /// Adds a row, and deletes it in a transaction of its own.
            func vanish(_ name: String) throws {
                let item = try database.writeBlocking { try $0.items.insert(listed("/\(name)", id: name)) }
                try database.writeBlocking { try $0.items.delete(databaseID: item.databaseID) }
            }
            func isComplete(after anchor: Int64) throws -> Bool {
                try database.readBlocking { tx in
                    var position = try tx.tombstones.position()
                    position.anchor = anchor
                    return try tx.tombstones.isComplete(after: position)
                }
            }
            func count() throws -> Int { try database.readBlocking { try $0.tombstones.after(0).count } }
            func prune(day: Int, most: Int = 100) throws {
                let now = Timestamp(seconds: 1_000_000_000) + .seconds(86_400 * day)
                try database.writeBlocking { try $0.tombstones.prune(now: now, most: most) }
            }
            for name in 0..<5 { try vanish("\(name)") }
            try prune(day: 0)
            #expect(try count() == 5)
            #expect(try isComplete(after: 0))
            #expect(try !isComplete(after: 11))

            // The first two were deleted by the transactions 2 and 4.
            try prune(day: 0, most: 3)
            #expect(try count() == 3)
            #expect(try isComplete(after: 4))
            #expect(try !isComplete(after: 3))

            try prune(day: 29)
            try vanish("late")
            #expect(try count() == 4)
            try prune(day: 30)
            #expect(try count() == 1)
            #expect(try isComplete(after: 10))
            #expect(try !isComplete(after: 9))
            // A clock that was set back for a while drops nothing, and nothing stays for ever.
            try prune(day: -400)
            #expect(try count() == 1)
            try prune(day: 80)
            #expect(try count() == 0)
            #expect(try isComplete(after: 12))
            #expect(try !isComplete(after: 11))
        }
    }

    @Test(
        "U17: a database of another course, such as a restored one, has another epoch, in which no old position counts")
    func epoch() throws {
        try withTemporaryFolder { folder in
            let path = folder + "/larder.db"
            let database = try Database.open(path: path)
            try database.writeBlocking { _ = try $0.items.insert(listed("/a", id: "1")) }
            let only = try database.writeBlocking { try $0.items.insert(fileItem("/only")) }
            try database.writeBlocking { try $0.items.delete(databaseID: only.databaseID) }
            let before = try position(database)
            #expect(try database.readBlocking { try $0.tombstones.isComplete(after: before) })
            try database.close()
            let reopened = try Database.open(path: path)
            #expect(try position(reopened) == before)
            try reopened.close()

            try DatabaseFile(path: path).makeCurrent(vault: nil, isRestored: true)
            let restored = try Database.open(path: path)
            let after = try position(restored)
            #expect(after.epoch != before.epoch && after.anchor == before.anchor)
            try restored.readBlocking { tx in
                let complete = try [before, after].map { try tx.tombstones.isComplete(after: $0) }
                #expect(complete == [false, true])
                #expect(try tx.tombstones.after(0) == [])
            }
            try restored.close()
            let other = try Database.open(path: folder + "/other.db")
            #expect(try position(other).epoch != after.epoch)
            try other.close()
        }
    }

    @Test("U17: a position is two numbers, and nothing else is one")
    func text() {
        #expect(ChangePosition("7:42") == ChangePosition(epoch: 7, anchor: 42))
        #expect(ChangePosition("281474976710655:0")?.description == "281474976710655:0")
        for bad in [
            "", ":", "7", "7:", ":42", "-7:1", "7:-1", "7:4:2", "7: 42", "+7:1", "7:99999999999999999999", "七:1",
        ] {
            #expect(ChangePosition(bad) == nil, "\(bad)")
        }
    }
}

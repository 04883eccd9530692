import Model
import TestSupport
import Testing

@testable import Core
@testable import Database

/// Tests of the pages of a change feed, on a database of their own.
@Suite struct FeedCursorTests {
    /// What a reader of a feed knows of items, and where it goes on.
    private struct Reader {
        var known: [LocalID: String]
        var position: ChangePosition
        var cursor: FeedCursor
        var troubles: [String] = []

        init(_ reads: some DatabaseReads) throws {
            known = try state(reads)
            position = try reads.tombstones.position()
            cursor = try FeedCursor(behind: position, reads)
        }

        /// Takes a page, or the first events of it, after which the reader ends and begins anew.
        mutating func read(_ reads: ReadTransaction, size: Int, atMost count: Int = .max) throws -> Bool {
            let (events, isLast) = try cursor.page(reads, now: Timestamp(seconds: 0), files: "/files", size: size)
            for event in events.prefix(count) {
                if event.position.anchor < position.anchor { troubles.append("back to \(event.position)") }
                position = event.position
                guard case .item(let change, let report) = event.content else { continue }
                let id = report.item.localID
                if change == .updated, known[id] == nil { troubles.append("\(report.item.path) was not added") }
                known[id] = change == .removed ? nil : text(report.item)
            }
            if events.count > count { cursor = try FeedCursor(behind: position, reads) }
            return isLast && events.count <= count
        }
    }

    @Test(
        "U5: readers that end anywhere and go on from their positions have what is there, and each item was added first"
    )
    func anyCourse() throws {
        var random = SeededGenerator()
        for _ in 0..<max(1, SeededGenerator.rounds() / 50) {
            try withDatabase { database in
                for step in 0..<5 { try change(database, step, &random) }
                var reader = try database.readBlocking { try Reader($0) }
                for step in 5..<60 {
                    try change(database, step, &random)
                    guard Int.random(in: 0..<3, using: &random) > 0 else { continue }
                    let size = Int.random(in: 1...6, using: &random)
                    let most = Bool.random(using: &random) ? .max : Int.random(in: 0...3, using: &random)
                    try database.readBlocking { _ = try reader.read($0, size: size, atMost: most) }
                }
                let expected = try database.readBlocking { tx in
                    while try !reader.read(tx, size: 4) {}
                    return try state(tx)
                }
                #expect(reader.known == expected && reader.troubles == [], "LARDER_TEST_SEED=\(random.seed)")
            }
        }
    }

    /// Changes some rows in one transaction.
    private func change(_ database: Database, _ step: Int, _ random: inout SeededGenerator) throws {
        try database.writeBlocking { tx in
            for part in 0..<Int.random(in: 1...4, using: &random) {
                let all = try rows(tx)
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1:
                    var item = fileItem("/f\(step)-\(part)")
                    item.fileID = FileID("\(step)-\(part)")
                    _ = try tx.items.insert(item)
                case 2, 3:
                    guard var item = all.randomElement(using: &random) else { continue }
                    item.size = Int64(step)
                    try tx.items.update(item)
                case 4:
                    guard var item = all.randomElement(using: &random) else { continue }
                    item.removedAt = item.isRemoved ? nil : Timestamp(seconds: 1)
                    try tx.items.update(item)
                default:
                    guard let item = all.randomElement(using: &random) else { continue }
                    try tx.items.delete(databaseID: item.databaseID)
                }
            }
        }
    }

    @Test(
        "U7 U17: a position that is too old, or of another course, is answered with a gap, and the feed goes on after it"
    )
    func gap() throws {
        try withDatabase { database in
            try database.writeBlocking { _ = try $0.items.insert(fileItem("/a")) }
            let now = try database.readBlocking { try $0.tombstones.position() }
            var other = now
            other.epoch += 1
            let later = ChangePosition(epoch: now.epoch, anchor: now.anchor + 5)
            for position in [other, later] {
                try database.readBlocking { reads in
                    var cursor = try FeedCursor(behind: position, reads)
                    // A reader that begins anew before it is told of the gap is told of it then.
                    #expect(cursor.position == position)
                    let page = try cursor.page(reads, now: Timestamp(seconds: 0), files: "/files")
                    guard case .gap(position, now)? = page.events.first?.content else {
                        Issue.record("\(page.events)")
                        return
                    }
                    #expect(page.events.count == 1 && page.events[0].position == now && cursor.position == now)
                    #expect(try cursor.page(reads, now: Timestamp(seconds: 0), files: "/files").events.isEmpty)
                }
            }
        }
    }

    @Test("E2: what a transaction removed is told before what it put in its place")
    func replaced() throws {
        try withDatabase { database in
            let (flagged, deleted) = try database.writeBlocking { tx in
                (try tx.items.insert(fileItem("/a")), try tx.items.insert(fileItem("/b")))
            }
            let before = try database.readBlocking { try $0.tombstones.position() }
            try database.writeBlocking { tx in
                var item = flagged
                item.removedAt = Timestamp(seconds: 1)
                try tx.items.update(item)
                try tx.items.delete(databaseID: deleted.databaseID)
                for path in ["/a", "/b"] { _ = try tx.items.insert(fileItem(path)) }
            }
            let told = try database.readBlocking { reads in
                var cursor = try FeedCursor(behind: before, reads)
                return try cursor.page(reads, now: Timestamp(seconds: 0), files: "/files").events.map { event in
                    if case .item(let change, let report) = event.content { "\(change) \(report.item.path)" } else { "" }
                }
            }
            #expect(told == ["removed /b", "removed /a", "added /a", "added /b"])
        }
    }

    @Test("A page has few changes of other things, however many a transaction has, and the next one goes on")
    func pages() throws {
        try withDatabase { database in
            let before = try database.readBlocking { try $0.tombstones.position() }
            for step in 0..<6 {
                try database.writeBlocking { tx in
                    for part in 0..<10 {
                        try tx.notedChanges.note(PluginID("p\(step)-\(part)"), state: "running", reason: nil)
                    }
                }
            }
            try database.readBlocking { reads in
                var cursor = try FeedCursor(behind: before, reads)
                var (told, isLast): ([Int], Bool) = ([], false)
                while !isLast {
                    let page = try cursor.page(reads, now: Timestamp(seconds: 0), files: "/files", size: 15)
                    told.append(page.events.count)
                    isLast = page.isLast
                }
                #expect(told.reduce(0, +) == 60 && told.allSatisfy { $0 <= 30 }, "\(told)")
            }
        }
    }

    @Test("What else changed is told once, in its newest state, with what it was")
    func others() throws {
        try withDatabase { database in
            let before = try database.readBlocking { try $0.tombstones.position() }
            let (kept, gone) = try database.writeBlocking { tx in
                let item = try tx.items.insert(fileItem("/a"))
                func record() throws -> SyncRecordID {
                    try tx.journal.insert(
                        SyncRecord(
                            action: .download, localID: item.localID, path: item.path, reason: .user,
                            since: Timestamp(seconds: 1))
                    ).id
                }
                return try (record(), record())
            }
            try database.writeBlocking { _ = try $0.journal.delete(id: gone) }
            try? database.writeBlocking { tx in
                try tx.journal.delete(id: kept)
                throw Failure(.failed, "not so")
            }
            try database.writeBlocking { try $0.notedChanges.note(PluginID("p"), state: "quarantined", reason: nil) }
            let told = try database.readBlocking { reads in
                var cursor = try FeedCursor(behind: before, reads)
                return try cursor.page(reads, now: Timestamp(seconds: 0), files: "/files").events.map { event in
                    switch event.content {
                    case .item(let change, let report): "\(change) \(report.item.path)"
                    case .record(let change, let report): "\(change) \(report.record.id)"
                    case .recordGone(let id, let action, let path): "gone \(id) \(action) \(path)"
                    case .plugin(let id, let state, _): "\(id) \(state)"
                    default: "\(event.content)"
                    }
                }
            }
            #expect(told == ["added /a", "added \(kept)", "gone \(gone) download /a", "p quarantined"])
        }
    }
}

private func withDatabase(_ body: (Database) throws -> Void) throws {
    try withTemporaryFolder { folder in
        let database = try Database.open(path: folder + "/larder.db")
        try body(database)
        try database.close()
    }
}

private func rows(_ reads: some DatabaseReads) throws -> [Item] {
    var all: [Item] = []
    try reads.items.changed(after: 0) {
        all.append($0.item)
        return true
    }
    return all.sorted { $0.databaseID < $1.databaseID }
}

private func text(_ item: Item) -> String { "\(item.path) \(item.size ?? -1)" }

/// What is there, by ids.
private func state(_ reads: some DatabaseReads) throws -> [LocalID: String] {
    Dictionary(uniqueKeysWithValues: try rows(reads).filter { !$0.isRemoved }.map { ($0.localID, text($0)) })
}

import Model
import TestSupport
import Testing

@testable import Database
@testable import SyncEngine

/// Downloads that are recorded together, beside the same requests one by one.
struct FirstDownloadsTests {
    private static let plugin = DownloadTrigger("org.example.one")

    /// What requests without a key left: the items and records, and what changed of the transaction's items.
    private struct Outcome: Equatable {
        var items: [Item] = []
        var records: [SyncRecord] = []
        var updated: Set<ItemRowID> = []
    }

    private struct TakenBack: Error { var outcome: Outcome }

    /// Makes requests in a transaction that is rolled back, and returns what they left.
    private static func outcome(
        _ fixture: EngineFixture, of items: [Item], _ request: @Sendable (Transaction) throws -> Void
    ) throws -> Outcome {
        do {
            try fixture.database.writeBlocking { tx in
                try request(tx)
                var outcome = Outcome()
                for item in items {
                    guard let now = try tx.items.item(localID: item.localID) else { continue }
                    outcome.items.append(now)
                    outcome.records += try tx.journal.records(of: item.localID).map { record in
                        var record = record
                        record.id = .none
                        return record
                    }
                }
                outcome.updated = Set(tx.changes?.updated ?? [])
                throw TakenBack(outcome: outcome)
            }
        } catch let back as TakenBack { return back.outcome }
        throw SetupError("the transaction was committed")
    }

    /// Changes after which a file's download is not recorded with others.
    private static let states = [
        "UPDATE items SET type = 1 WHERE databaseID = ?", "UPDATE items SET removedAt = 1 WHERE databaseID = ?",
        "UPDATE items SET cloudStatus = 1 WHERE databaseID = ?",
        "UPDATE items SET cloudStatus = 2 WHERE databaseID = ?",
        "UPDATE items SET cloudStatus = 3 WHERE databaseID = ?",
        """
        INSERT INTO syncRecords (action, state, localID, path, reason, since)
        SELECT 'removeLocalCopy', 1, localID, path, 'org.example.one', 1 FROM items WHERE databaseID = ?
        """,
        """
        INSERT INTO syncRecords (action, state, localID, path, reason, since)
        SELECT 'download', 1, localID, path, 'user', 1 FROM items WHERE databaseID = ?
        """,
        """
        INSERT INTO syncRecords (action, state, localID, path, reason, key, since, waitUntil)
        SELECT 'download', 1, localID, path, 'org.example.one', localID, 1, 99 FROM items WHERE databaseID = ?
        """,
        """
        INSERT INTO syncRecords (action, state, localID, path, reason, since, otherPath)
        SELECT 'move', 1, localID, path, 'user', 1, '/elsewhere' FROM items WHERE databaseID = ?
        """,
        "DELETE FROM items WHERE databaseID = ?",
    ]

    @Test("S53: a file that is not new in one respect is not recorded with others", arguments: states)
    func guards(_ state: String) async throws {
        try await EngineFixture.with { fixture in
            let items = try await fixture.addFiles(3) { ("/d/f\($0)", "content") }
            let engine = fixture.engine
            try await fixture.database.write { tx in
                try tx.items.run("PRAGMA ignore_check_constraints = 1")
                try tx.items.run(state, .id(items[1].databaseID))
                let count = tx.items.changedRows
                #expect(count == 1)
                let queued = try engine.enqueueFirstDownloads(
                    of: items.map(\.localID), for: Self.plugin, whileCovered: true, in: tx)
                #expect(queued == [items[0].localID, items[2].localID])
                let again = try engine.enqueueFirstDownloads(
                    of: items.map(\.localID), for: Self.plugin, whileCovered: true, in: tx)
                #expect(again.isEmpty)
            }
            #expect(fixture.engine.progress.filesTotal == 2 && fixture.engine.progress.bytesTotal == 14)
        }
    }

    @Test("S53: an id of any characters is recorded with others")
    func ids() async throws {
        try await EngineFixture.with { fixture in
            let (items, engine) = (try await fixture.addFiles(4) { ("/f\($0)", "content") }, fixture.engine)
            try await fixture.database.write { tx in
                for (item, id) in zip(items, [#"a"b"#, #"a\b"#, "a\nb", "ü'"]) {
                    try tx.items.run(
                        "UPDATE items SET localID = ? WHERE databaseID = ?", .text(id), .id(item.databaseID))
                }
                let ids = [#"a"b"#, #"a\b"#, "a\nb", "ü'"].map { LocalID($0) }
                let queued = try engine.enqueueFirstDownloads(
                    of: ids, for: Self.plugin, whileCovered: false, in: tx)
                #expect(queued == Set(ids))
                for id in ids { #expect(try tx.journal.records(of: id).count == 1) }
            }
        }
    }

    @Test("S53: downloads that are recorded together leave what they leave one by one, whatever is known of the items")
    func agrees() async throws {
        var random = SeededGenerator()
        let rounds = SeededGenerator.rounds(usually: 20)
        for round in 0..<rounds {
            let (seed, covered) = (random.next(), Bool.random(using: &random))
            try await EngineFixture.with { fixture in
                let items = try await fixture.addFiles(12) { ("/d\($0 % 3)/f\($0)", "content") }
                let engine = fixture.engine
                try await fixture.database.write { tx in
                    var random = SeededGenerator(seed: seed)
                    try tx.items.run("PRAGMA ignore_check_constraints = 1")
                    for item in items where Bool.random(using: &random) {
                        guard let state = Self.states.dropLast().randomElement(using: &random) else { continue }
                        try tx.items.run(state, .id(item.databaseID))
                    }
                }
                var random = SeededGenerator(seed: seed)
                let wanted = items.shuffled(using: &random).map(\.localID)
                let request: @Sendable (LocalID) -> ActionRequest = {
                    ActionRequest(.download, item: $0, reason: Self.plugin, whileCovered: covered)
                }
                let single = try Self.outcome(fixture, of: items) { tx in
                    _ = try engine.enqueue(wanted.map(request), in: tx)
                }
                let together = try Self.outcome(fixture, of: items) { tx in
                    let queued = try engine.enqueueFirstDownloads(
                        of: wanted, for: Self.plugin, whileCovered: covered, in: tx)
                    _ = try engine.enqueue(wanted.filter { !queued.contains($0) }.map(request), in: tx)
                }
                #expect(single == together, "round \(round)")
            }
        }
    }

    @Test("A plugin's second request without a key for the same action on an item does nothing")
    func withoutKeys() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/a", "content")
            let engine = fixture.engine
            let ask: @Sendable (ItemAction, DownloadTrigger) async throws -> EnqueueOutcome? = {
                action, reason in
                try await fixture.database.write { tx in
                    try engine.enqueue([.init(action, item: file.localID, reason: reason)], in: tx).first
                }
            }
            guard case .queued(let id)? = try await ask(.download, Self.plugin),
                case .joined(let same)? = try await ask(.download, Self.plugin)
            else { throw SetupError("not queued, or queued twice") }
            #expect(same == id)
            // Another plugin's wish, and another action, are not the same.
            guard case .joined(let joined)? = try await ask(.download, DownloadTrigger("org.example.two")) else {
                throw SetupError("not joined")
            }
            let records = try await fixture.records()
            #expect(joined == id && records.map(\.reason) == [DownloadTrigger("org.example.two")])
            _ = try await ask(.removeLocalCopy(restoringFormerTrigger: false), DownloadTrigger("org.example.two"))
            #expect(try await fixture.records().map(\.reason) == [Self.plugin])
            #expect(try await fixture.drain().isDone)
            // A copy for which another action is planned does not count as unused. The removal itself is none.
            let since = fixture.clock.now
            let removal = ItemAction.removeLocalCopy(restoringFormerTrigger: false, unusedSince: since)
            guard case .queued(let queued)? = try await ask(removal, Self.plugin),
                case .joined(let again)? = try await ask(removal, Self.plugin)
            else { throw SetupError("not queued, or asked for twice") }
            #expect(queued == again && fixture.coverage.dropped == [])
        }
    }
}

import Database
import GRDB
import Glibc
import LocalTree
import Model
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Core
@testable import Database
@testable import ItemList

/// Tests of the writes of a scan. The tests count the writes and do not time them.
@Suite("The cost of scans")
struct ScanCostTests {
    private static let (folders, filesEach) = (200, 50)

    @Test(
        "H6: the rows of 10,000 files in 200 folders are written once, in few transactions; where nothing changed none is"
    )
    func transactions() async throws {
        // These walks are short, however slow the machine is.
        try await AccountFixture.running(clock: .account(patience: .seconds(1.5))) { fixture in
            for number in 0..<Self.folders * Self.filesEach {
                fixture.put("/d\(number % Self.folders)/f\(number)", "x")
            }
            let first = try await fixture.writes(slowly: true)
            #expect(first.transactions < Self.folders / 4)
            // A file's row is written once. A folder's row is written again when the folder has been listed. The
            // folder's scan job is written twice: when the folder has to be listed, and when it has been listed.
            // For the change feed, the first run collects the state of each plugin and keeps them as one row.
            let noted = try await fixture.host.database.read { try $0.notedChanges.all(after: 0).map(\.changes.count) }
            let notes = noted.reduce(0) { $0 + 2 * $1 + 1 }
            #expect(noted.count == 1)
            #expect(
                first.rows <= Self.folders * Self.filesEach + 4 * (Self.folders + 1) + 2 * first.transactions + notes)
            #expect(fixture.listings.count == Self.folders + 2)

            // The scan writes only the time of the scan and the state of the account.
            let unchanged = try await fixture.writes()
            #expect(unchanged.rows <= 4 && fixture.listings == ["/"])
            fixture.clock.advance(.seconds(24 * 3600))
            let whole = try await fixture.writes()
            // The walk also writes the facts found out about the server, and that the secret still works.
            #expect(whole.rows <= 8 && Set(fixture.listings).count == Self.folders + 1)
        }
    }

    @Test("The rows of 10,000 files in one folder are written in few transactions, each in the order of the paths")
    func wide() async throws {
        try await AccountFixture.running { fixture in
            for number in 0..<Self.folders * Self.filesEach { fixture.put("/wide/f\(number * 7_919 % 10_000)", "x") }
            let first = try await fixture.writes()
            #expect(first.transactions < 22)
            let descents = try await fixture.host.database.read { reads in
                try Int.fetchOne(
                    reads.db,
                    sql: """
                        SELECT count(*) FROM (
                          SELECT path < lag(path) OVER (ORDER BY databaseID) AS isDescent FROM items
                        ) WHERE isDescent
                        """)
            }
            #expect(try #require(descents) < first.transactions)
        }
    }

    @Test("What listings have to write at the same time is one transaction")
    func together() async throws {
        try await AccountFixture.running { fixture in
            let counter = try await fixture.countWrites()
            try await MergeWriter(database: fixture.host.database).writeTogether(100) { number, tx in
                try tx.scan.add(ScanJob(path: ItemPath(unchecked: "/\(number)"), isWhole: false))
            }
            #expect(try await fixture.host.database.read { try $0.scan.jobs() }.count == 100)
            #expect(counter.written.transactions == 1)
        }
    }
}

extension MergeWriter {
    /// Submits `count` pieces of work before the first of them can begin.
    fileprivate func writeTogether(
        _ count: Int, _ body: @escaping @Sendable (Int, Transaction) throws -> Void
    ) async throws {
        let tasks = (0..<count).map { number in Task.immediate { try await self.write { try body(number, $0) } } }
        for task in tasks { try await task.value }
    }
}

/// The counts of committed changes.
private struct Written {
    /// The number of transactions that changed a row.
    var transactions = 0
    /// The number of times that a row was added, changed or removed, in any table.
    var rows = 0
}

/// A counter of a connection's commits, based on SQLite's own count of changes.
private final class WriteCounter: TransactionObserver, Sendable {
    private let state: Mutex<(last: Int, written: Written)>
    private let disk: SlowDisk?

    init(_ db: GRDB.Database, disk: SlowDisk?) {
        state = Mutex((db.totalChangesCount, Written()))
        self.disk = disk
    }

    var written: Written { state.withLock { $0.written } }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: GRDB.Database) { state.withLock { $0.last = db.totalChangesCount } }

    func databaseDidCommit(_ db: GRDB.Database) {
        let changes = db.totalChangesCount
        state.withLock { state in
            guard changes > state.last else { return }
            state.written.transactions += 1
            state.written.rows += changes - state.last
            state.last = changes
        }
        disk?.commit(db)
    }
}

/// A disk on which a commit takes as long as the server needs for all listings that are under way.
private final class SlowDisk: Sendable {
    private let server: TestServer
    /// The number of folders that were listed when the last commit ended.
    private let listed = Mutex(0)
    /// The number of folders that are being listed, or wait for their commit, at the same time.
    private static let underWay = 24

    init(_ server: TestServer) { self.server = server }

    private var answered: Int { Set(server.requests.filter { $0.method == "PROPFIND" }.map(\.path)).count }

    func commit(_ db: GRDB.Database) {
        do {
            let folders: Int = try Int.fetchOne(db, sql: "SELECT count(*) FROM items WHERE type = 1") ?? 0
            let now: Int = try Int.fetchOne(db, sql: "SELECT count(*) FROM items WHERE listedETag IS NOT NULL") ?? 0
            let before = listed.withLock { listed in
                defer { listed = now }
                return listed
            }
            // Nothing else is listed before the root has been listed.
            guard before > 0 else { return }
            let expected = min(folders, before + Self.underWay)
            // If fewer listings are under way, the counts fail the test.
            untilOnThread { answered >= expected }
        } catch {
            Testing.Issue.record(error)
        }
    }
}

extension AccountFixture {
    fileprivate func countWrites(disk: SlowDisk? = nil) async throws -> WriteCounter {
        try await host.database.write { tx -> WriteCounter in
            let counter = WriteCounter(tx.db, disk: disk)
            tx.db.add(transactionObserver: counter, extent: .databaseLifetime)
            return counter
        }
    }

    /// Returns the writes of a run of a new host.
    fileprivate func writes(slowly: Bool = false) async throws -> Written {
        try await restart()
        let counter = try await countWrites(disk: slowly ? SlowDisk(server) : nil)
        try await runWell()
        return counter.written
    }
}

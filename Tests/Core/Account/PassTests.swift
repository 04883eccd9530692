import Core
import DemoServer
import GRDB
import ItemPolicies
import Model
import Synchronization
import TestSupport
import Testing

@testable import Core
@testable import Storage

@Suite("A processor's pass over many items")
struct PassTests {
    private struct Commits {
        var writingRecords = 0
        var mostItems = 0
    }

    @Test("P17: a pin over 100,000 items is 100,000 records, written in transactions of 1,000 calls")
    func commits() async throws {
        try await Bench.running { bench in
            let (count, batch) = (100_000, 1_000)
            let host = try await bench.ready()
            try await host.database.write { tx in try tx.insertFiles(count) }
            let commits = Mutex(Commits())
            host.database.setCommitObserver { summary in
                if summary.recordsChanged {
                    commits.withLock { commits in
                        commits.writingRecords += 1
                        commits.mostItems = max(commits.mostItems, summary.updated.count)
                    }
                }
                host.policies.databaseChanged(summary)
            }
            let policies = Task { await host.policies.run() }
            try await bench.pin("/")
            await host.policies.settled()
            policies.cancel()
            await policies.value

            let pending = try await host.database.read { try $0.pendingDownloads().files }
            #expect(pending == count)
            let seen = commits.withLock { $0 }
            #expect(seen.writingRecords == count / batch)
            #expect(seen.mostItems == batch)
            #expect(bench.server.requests.isEmpty)
        }
    }
}

extension Storage.Transaction {
    /// Rows of files that are on the server alone, in one statement: one by one they would take longer than the pass.
    fileprivate func insertFiles(_ count: Int) throws {
        try db.execute(
            sql: """
                WITH RECURSIVE numbers (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?)
                INSERT INTO items (localID, fileID, path, parentPath, name, type, size, etag, etagStrength, anchor)
                SELECT n, n, '/d' || (n % 100) || '/f' || n, '/d' || (n % 100), 'f' || n, 0, 1, '1', ?, 1 FROM numbers
                """, arguments: [count, ETag.Strength.strong.rawValue])
    }
}

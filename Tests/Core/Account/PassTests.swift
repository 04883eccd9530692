import Core
import GRDB
import Glibc
import ItemPolicies
import Model
import Synchronization
import TestServer
import TestSupport
import Testing

@testable import Core
@testable import Database
@testable import LocalTree
@testable import Vault

@Suite("A processor's pass over many items")
struct PassTests {
    private struct Commits {
        var writingRecords = 0
        var mostItems = 0
    }

    /// Runs in a process of its own, so that the memory of other tests is not counted.
    @Test(
        "P17: a pin over 100,000 items is 100,000 records, in transactions of 1,000 calls, and takes the memory of one over 10,000"
    )
    func commits() async {
        await #expect(processExitsWith: .success) {
            // The thread sanitizer takes additional time and memory for all memory that the program touches.
            guard dlsym(nil, "__tsan_init") == nil else { return try await Self.pin(over: 20_000) }
            try await Self.pin(over: 10_000)
            let before = try Self.mostMemory()
            try await Self.pin(over: 100_000)
            let after = try Self.mostMemory()
            // The limit is the memory of 90,000 items if no more than 180 bytes of each are kept.
            #expect(after - before < 16 << 10, "\(before) KiB, then \(after) KiB")
        }
    }

    /// Returns the largest memory size of this process so far, in KiB.
    private static func mostMemory() throws -> Int {
        let lines = try Files.text("/proc/self/status").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    private static func pin(over count: Int) async throws {
        try await AccountFixture.running { fixture in
            let batch = 1_000
            let host = try await fixture.ready()
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
            try await fixture.pin("/")
            await host.policies.waitUntilIdle()
            policies.cancel()
            await policies.value

            let pending = try await host.database.read { try $0.journal.pendingTransfers().files }
            #expect(pending == count)
            let seen = commits.withLock { $0 }
            #expect(seen.writingRecords == count / batch)
            #expect(seen.mostItems == batch)
            #expect(fixture.server.requests.isEmpty)
        }
    }
}

extension Transaction {
    /// Inserts the rows of files that are only on the server, folder by folder as a scan adds them. A single statement
    /// inserts all rows: one statement for each row would take longer than the pass.
    fileprivate func insertFiles(_ count: Int) throws {
        try db.execute(
            sql: """
                WITH RECURSIVE numbers (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?)
                INSERT INTO items (localID, fileID, path, parentPath, name, type, size, etag, etagStrength, anchor)
                SELECT printf('%08d', n), n, '/d' || (n / 1000) || '/f' || n, '/d' || (n / 1000), 'f' || n,
                  0, 1, '1', ?, 1
                FROM numbers
                """, arguments: [count, ETag.Strength.strong.rawValue])
    }
}

import Core
import DemoServer
import ItemPolicies
import Model
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Core

@Suite("A processor's pass over many items")
struct PassTests {
    private struct Commits {
        var writingRecords = 0
        var mostItems = 0
    }

    @Test("P17: a pin over 20,000 items is 20,000 records, written in transactions of 1,000 calls")
    func commits() async throws {
        try await Bench.running { bench in
            let (count, batch) = (20_000, 1_000)
            let host = try await bench.ready()
            try await host.database.write { tx in
                for number in 0..<count {
                    try tx.insert(
                        Item(
                            localID: LocalID("\(number)"), fileID: FileID("\(number)"),
                            path: ItemPath(unchecked: "/d\(number % 100)/f\(number)"), kind: .file, size: 1,
                            etag: ETag(opaque: "1", strength: .strong)))
                }
            }
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

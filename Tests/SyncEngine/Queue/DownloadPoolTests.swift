import Model
import TestSupport
import Testing
import Threads

@testable import Database
@testable import LocalTree
@testable import SyncEngine
@testable import Vault

struct DownloadPoolTests {
    private func job(_ id: SyncRecordID, _ state: SyncRecord.State = .ready, size: Int64? = 1) throws -> Job {
        let item = Item(
            localID: LocalID("\(id)"), fileID: FileID("\(id)"), path: try ItemPath("/\(id)"), kind: .file, size: size)
        let record = SyncRecord(
            id: id, action: .download, state: state, localID: item.localID, path: item.path, reason: .user,
            since: Timestamp(seconds: 0))
        return Job(record, item: item)
    }

    private let failure = FetchOutcome.failed(.cancelled)

    /// Returns the id of the job that a worker of the thread gets; nil if the worker gets none.
    private func next(_ pool: DownloadPool, on thread: Int = 0) -> SyncRecordID? {
        pool.next(on: thread) { $0.id }?.started
    }

    @Test("Workers are spread over the threads, as many as there is work for, and come in their order")
    func workers() throws {
        let pool = DownloadPool(workers: 5, threads: 2)
        #expect(try pool.hand([job(1), job(2), job(3)]).sorted() == [0, 0, 1])
        #expect(try pool.hand((4...9).map { try job($0) }).sorted() == [0, 1])
        #expect(try pool.hand([job(10)]).isEmpty)
        #expect((1...10).map { _ in next(pool) } == (1...10).map { $0 })
        #expect(next(pool) == nil && next(pool, on: 1) == nil)
        // Two workers have ended, one on each thread.
        #expect(try pool.hand((11...20).map { try job($0) }).sorted() == [0, 1])
    }

    @Test("What is recalled was not started, and what was started is not recalled")
    func recall() throws {
        let pool = DownloadPool(workers: 2, threads: 1)
        _ = try pool.hand((1...5).map { try job($0) })
        #expect(next(pool) == 1)
        #expect(pool.recall().map(\.id) == [2, 3, 4, 5])
        #expect(next(pool) == nil && pool.recall().isEmpty)
    }

    @Test("S37: large downloads leave places to small ones, and take them again when one of them has ended")
    func largeFiles() throws {
        let pool = DownloadPool(workers: 6, threads: 1)
        #expect(try pool.hand((1...8).map { try job($0, size: $0 == 8 ? nil : 1 << 30) }).count == 4)
        #expect((1...5).map { _ in next(pool) } == [1, 2, 3, 4, nil])
        #expect(pool.hand([]).isEmpty)
        #expect(try pool.hand((11...14).map { try job($0) }).count == 3)
        #expect((1...2).map { _ in next(pool) } == [11, 12])
        pool.deliver((try job(2, size: 1 << 30), failure))
        #expect(pool.takeOutcomes().map(\.job.id) == [2])
        #expect(pool.hand([]).isEmpty)
        #expect((1...4).map { _ in next(pool) } == [5, 13, 14, nil])
        #expect(pool.recall().map(\.id) == [6, 7, 8])
    }

    @Test("After a failure nothing starts until it was looked at")
    func halt() throws {
        let pool = DownloadPool(workers: 2, threads: 1)
        _ = try pool.hand((1...5).map { try job($0) })
        #expect(next(pool) == 1 && next(pool) == 2)
        pool.deliver((try job(1), failure))
        #expect(next(pool) == nil)
        // The failure may be the reason why the remaining jobs must not start.
        _ = pool.hand([])
        #expect(next(pool) == nil)
        #expect(pool.takeOutcomes().map(\.job.id) == [1])
        #expect(pool.hand([]) == [0])
        #expect(next(pool) == 3)
        // An outcome of a job that could not be started must be read too.
        pool.deliver((try job(3), .notStarted))
        #expect(next(pool) == nil)
    }

    @Test("A worker that goes on tells of what has ended", .timeLimit(.minutes(20)))
    func signal() async throws {
        let pool = DownloadPool(workers: 1, threads: 1)
        _ = try pool.hand((1...4).map { try job($0, .processing) })
        for id: SyncRecordID in 1...3 {
            #expect(next(pool) == id)
            let file = CompletedFile(
                name: "\(id)", digest: [], others: [:],
                mark: FileMark(
                    inode: 1, size: 1, modified: Timestamp(seconds: 1), changed: Timestamp(seconds: 1),
                    recorded: Timestamp(seconds: 1)))
            let version = ETag(opaque: "v", strength: .strong)
            pool.deliver((try job(id), .complete(Fetched(job: try job(id), file: file, version: version))))
        }
        #expect(next(pool) == 4)
        await pool.signal.wait()
        #expect(pool.takeOutcomes().map(\.job.id) == [1, 2, 3] && pool.takeOutcomes().isEmpty)
    }

    @Test(
        "A record is marked once, and only while its download is under way, which is told of", .timeLimit(.minutes(20)))
    func marks() async throws {
        let pool = DownloadPool(workers: 3, threads: 1)
        _ = try pool.hand((1...3).map { try job($0) })
        #expect(!pool.hasUnmarked)
        #expect(next(pool) == 1 && next(pool) == 2)
        await pool.signal.wait()
        pool.deliver((try job(1), failure))
        #expect(pool.hasUnmarked && pool.takeUnmarked() == [2])
        #expect(!pool.hasUnmarked && pool.takeUnmarked().isEmpty)
    }
}

import Model
import TestSupport
import Testing
import Threads

@testable import Database
@testable import LocalTree
@testable import SyncEngine
@testable import Vault

struct FetchCrewTests {
    private func job(_ id: SyncRecordID, _ state: SyncRecord.State = .ready) throws -> Job {
        let item = Item(localID: LocalID("\(id)"), fileID: FileID("\(id)"), path: try ItemPath("/\(id)"), kind: .file)
        let record = SyncRecord(
            id: id, action: .download, state: state, localID: item.localID, path: item.path, reason: .user,
            since: Timestamp(seconds: 0))
        return Job(record, item: item)
    }

    private let failure = FetchOutcome.failed(.cancelled)

    /// The id of the job that a worker of the thread gets.
    private func next(_ crew: FetchCrew, on thread: Int = 0) -> SyncRecordID? {
        crew.next(on: thread) { $0.id }?.started
    }

    @Test("Workers are spread over the threads, as many as there is work for, and come in their order")
    func workers() throws {
        let crew = FetchCrew(workers: 5, threads: 2)
        #expect(try crew.hand([job(1), job(2), job(3)]).sorted() == [0, 0, 1])
        #expect(try crew.hand((4...9).map { try job($0) }).sorted() == [0, 1])
        #expect(try crew.hand([job(10)]).isEmpty)
        #expect((1...10).map { _ in next(crew) } == (1...10).map { $0 })
        #expect(next(crew) == nil && next(crew, on: 1) == nil)
        // Two have ended, one on each thread.
        #expect(try crew.hand((11...20).map { try job($0) }).sorted() == [0, 1])
    }

    @Test("What is recalled was not started, and what was started is not recalled")
    func recall() throws {
        let crew = FetchCrew(workers: 2, threads: 1)
        _ = try crew.hand((1...5).map { try job($0) })
        #expect(next(crew) == 1)
        #expect(crew.recall().map(\.id) == [2, 3, 4, 5])
        #expect(next(crew) == nil && crew.recall().isEmpty)
    }

    @Test("After a failure nothing starts until it was looked at")
    func halt() throws {
        let crew = FetchCrew(workers: 2, threads: 1)
        _ = try crew.hand((1...5).map { try job($0) })
        #expect(next(crew) == 1 && next(crew) == 2)
        crew.deliver((try job(1), failure))
        #expect(next(crew) == nil)
        // It may be why these must not start.
        _ = crew.hand([])
        #expect(next(crew) == nil)
        #expect(crew.takeOutcomes().map(\.job.id) == [1])
        #expect(crew.hand([]) == [0])
        #expect(next(crew) == 3)
        // One that could not be started is looked at too.
        crew.deliver((try job(3), .notStarted))
        #expect(next(crew) == nil)
    }

    @Test("A worker that goes on tells of what has ended", .timeLimit(.minutes(20)))
    func signal() async throws {
        let crew = FetchCrew(workers: 1, threads: 1)
        _ = try crew.hand((1...4).map { try job($0, .processing) })
        for id: SyncRecordID in 1...3 {
            #expect(next(crew) == id)
            let file = CompletedFile(
                name: "\(id)", digest: [], checksums: [:],
                mark: FileMark(
                    inode: 1, size: 1, modified: Timestamp(seconds: 1), changed: Timestamp(seconds: 1),
                    recorded: Timestamp(seconds: 1)))
            let version = ETag(opaque: "v", strength: .strong)
            crew.deliver((try job(id), .complete(Fetched(job: try job(id), file: file, version: version))))
        }
        #expect(next(crew) == 4)
        await crew.signal.wait()
        #expect(crew.takeOutcomes().map(\.job.id) == [1, 2, 3] && crew.takeOutcomes().isEmpty)
    }

    @Test(
        "A record is marked once, and only while its download is under way, which is told of", .timeLimit(.minutes(20)))
    func marks() async throws {
        let crew = FetchCrew(workers: 3, threads: 1)
        _ = try crew.hand((1...3).map { try job($0) })
        #expect(!crew.hasUnmarked)
        #expect(next(crew) == 1 && next(crew) == 2)
        await crew.signal.wait()
        crew.deliver((try job(1), failure))
        #expect(crew.hasUnmarked && crew.takeUnmarked() == [2])
        #expect(!crew.hasUnmarked && crew.takeUnmarked().isEmpty)
    }
}

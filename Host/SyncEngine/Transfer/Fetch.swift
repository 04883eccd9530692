import Connection
import Model
import Storage

extension SyncEngine {
    /// Downloads what the crew hands out, one after the other, until there is nothing to do.
    /// - Parameter thread: The place of the thread among ``downloadThreads``.
    func download(for crew: FetchCrew, on thread: Int) async {
        while let (job, request) = crew.next(on: thread, { startFetch($0, on: downloadThreads[thread]) }) {
            guard let request else {
                crew.deliver((job, nil))
                continue
            }
            let result = await withTaskCancellationHandler {
                await request.value
            } onCancel: {
                request.cancel()
            }
            crew.deliver((job, result))
        }
    }

    /// Starts a download in a task of its own, which can be ended alone, on a thread that may block.
    /// - Returns: nil if what is in memory may be out of date, a transaction has its hands on the record, or the server is away: then
    ///   it must not be started.
    func startFetch(
        _ job: Job, on thread: (any TaskExecutor)? = nil
    ) -> Task<Result<Fetched, FetchFailure>, Never>? {
        // In one step, so that a transaction either keeps the download from starting or knows how to end it.
        controls.with { state in
            guard state.isOnline, !state.isStale, !state.suspended.contains(job.id) else { return nil }
            let task = Task(executorPreference: thread ?? threads) { await self.fetch(job) }
            state.enders[job.id] = { task.cancel() }
            return task
        }
    }

    private func fetch(_ job: Job) async -> Result<Fetched, FetchFailure> {
        do {
            return .success(try await fetchOrResume(job))
        } catch {
            let failure = error as? FetchFailure ?? FetchFailure(error, received: nil, offset: 0)
            switch failure {
            case .changed, .gone, .wrongChecksum: tree.abandonIncoming(job.incomingName)
            case .cancelled where controls.with({ $0.cancelled.contains(job.id) }):
                tree.abandonIncoming(job.incomingName)
            default: break
            }
            return .failure(failure)
        }
    }

    /// What an earlier try left is gone on with, if it is certain that it belongs to the same version.
    private func fetchOrResume(_ job: Job) async throws -> Fetched {
        let sink: FetchSink
        do {
            sink = FetchSink(try tree.incomingFile(job.incomingName), counters: counters)
        } catch {
            throw FetchFailure.disk(error)
        }
        let there = sink.file.size
        // Whole already, when the host ended before it was put in place. An empty file is asked for: nothing would tell.
        if there > 0, there == job.size { return try finish(sink, job, lastModified: nil) }
        let request = DownloadRequest(
            version: job.version, size: job.size, offset: job.version.strength == .strong ? there : 0)
        do {
            let summary = try await source.get(job.path, request: request, into: sink)
            return try finish(sink, job, lastModified: summary.head.lastModified)
        } catch {
            sink.uncount()
            throw FetchFailure(error, received: sink.received, offset: request.offset)
        }
    }

    private func finish(_ sink: FetchSink, _ job: Job, lastModified: Timestamp?) throws -> Fetched {
        let file: CompletedFile
        do {
            file = try sink.file.finish(modified: job.lastModified ?? lastModified)
        } catch {
            throw FetchFailure.disk(error)
        }
        if let size = sink.head?.size ?? job.size, file.size != size {
            let failure = Failure(.protocolViolation, "\(job.path): \(file.size) bytes came instead of \(size)")
            throw FetchFailure.brokenOff(failure, gained: false)
        }
        for checksum in sink.head?.checksums ?? [] {
            guard let algorithm = ChecksumAlgorithm(checksum.algorithm), let value = file.checksums[algorithm] else {
                continue
            }
            guard value == checksum.value else {
                throw FetchFailure.wrongChecksum(
                    Failure(
                        .protocolViolation,
                        "\(job.path): what came does not have the server's \(algorithm.rawValue) checksum",
                        hint: "See whether the file can be read on the server"))
            }
        }
        return Fetched(job: job, file: file, version: sink.head?.version ?? job.version)
    }
}

/// Takes a download's bytes into `incoming/`.
private final class FetchSink: DownloadSink {
    let file: IncomingFile
    private(set) var head: DownloadHead?
    /// Nil before an answer came.
    private(set) var received: Int64?
    private let counters: Counters
    /// What of this file the counters have been told.
    private var counted: Int64 = 0

    init(_ file: IncomingFile, counters: Counters) {
        self.file = file
        self.counters = counters
        count(file.size)
    }

    /// Takes back what was counted: the download is not done.
    func uncount() { count(-counted) }

    private func count(_ bytes: Int64) {
        counted += bytes
        counters.change { $0.bytesDone += bytes }
    }

    func begin(_ head: DownloadHead) throws {
        let algorithms = Set(head.checksums.compactMap { ChecksumAlgorithm($0.algorithm) })
        do {
            if head.offset == 0 {
                uncount()
                try file.restart(computing: algorithms)
            } else {
                try file.compute(algorithms)
            }
        } catch {
            throw FetchFailure.disk(error)
        }
        guard head.offset == file.size else {
            throw FetchFailure.brokenOff(
                Failure(.protocolViolation, "The server went on at another place than asked for"), gained: false)
        }
        self.head = head
        received = 0
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        do {
            try file.append(bytes)
        } catch {
            throw FetchFailure.disk(error)
        }
        received = (received ?? 0) + Int64(bytes.count)
        count(Int64(bytes.count))
    }
}

extension ChecksumAlgorithm {
    fileprivate init?(_ algorithm: ContentChecksum.Algorithm) { self.init(rawValue: algorithm.rawValue) }
}

extension Job {
    /// The name in `incoming/`: of the record and the version, so that what is there is only ever gone on with by the same.
    var incomingName: String { "\(id)-\(String(version.shortHash, radix: 16))" }

    /// The record that a file in `incoming/` is of; nil if it is no download's.
    static func record(ofIncoming name: String) -> Int64? { name.split(separator: "-").first.flatMap { Int64($0) } }
}

extension ETag {
    /// FNV-1a, 64 bits, of the tag and its strength.
    fileprivate var shortHash: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in opaque.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (hash ^ UInt64(strength.rawValue)) &* 0x100_0000_01b3
    }
}

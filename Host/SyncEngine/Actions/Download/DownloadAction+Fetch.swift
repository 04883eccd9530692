import Connection
import Database
import LocalTree
import Model
import Synchronization

extension DownloadAction {
    /// Downloads the jobs that the pool hands out, one after the other in one task, until the pool has no more for this
    /// thread. When a job is cancelled, the task ends with it.
    /// - Parameter thread: The index of the thread in ``downloadThreads``.
    func download(for pool: DownloadPool, on thread: Int) async {
        let worker = DownloadWorker()
        let task = Task(executorPreference: context.downloadThreads[thread]) {
            while true {
                // Before the pool's lock is held, which must not wait for the disk.
                context.gauge.measure(isForced: false)
                guard let (job, isStarted) = pool.next(on: thread, { startFetch($0, by: worker) }) else { return }
                guard isStarted else {
                    pool.deliver((job, .notStarted))
                    continue
                }
                let outcome = await fetch(job)
                worker.end()
                pool.deliver((job, outcome))
            }
        }
        worker.work { task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Notes that a worker begins a download, so that the download can be cancelled.
    /// - Returns: False if the download must not be started, because there is no room for it, the server is away, the
    ///   state in memory may be out of date, or a transaction is changing the record.
    func startFetch(_ job: Job, by worker: DownloadWorker) -> Bool {
        guard takeRoom(for: job) else { return false }
        // One step, so that a transaction either keeps the download from starting or finds a way to end it.
        let isStarted = controls.with { state in
            guard state.mayStart(job.id) else { return false }
            worker.begin(job.id)
            state.enders[job.id] = { [id = job.id] in worker.cancel(id) }
            return true
        }
        if !isStarted { context.room.withLock { $0.end(context.gauge.owner(job.id)) } }
        return isStarted
    }

    /// - Parameter first: The answer to a request that was sent before; nil if none was.
    func fetch(_ job: Job, after first: FirstAnswer? = nil) async -> FetchOutcome {
        let shown = context.underWay.begin(.download, of: job, size: job.size)
        defer {
            context.underWay.end(job.id)
            context.room.withLock { $0.end(context.gauge.owner(job.id)) }
        }
        do {
            return .complete(try await fetchOrResume(job, after: first, shown))
        } catch {
            let failure = error as? FetchFailure ?? FetchFailure(error, received: nil, gained: false)
            switch failure {
            case .changed, .gone, .wrongChecksum: abandonIncoming(job)
            case .cancelled where controls.with({ $0.cancelled.contains(job.id) }): abandonIncoming(job)
            default: break
            }
            return .failed(failure)
        }
    }

    /// Resumes what an earlier try left in `incoming/`, if that part certainly belongs to the same version. A whole
    /// file is only taken if it was verified and journalled as whole: its length alone proves nothing.
    /// - Parameter shown: What those see who watch the download.
    private func fetchOrResume(
        _ job: Job, after first: FirstAnswer?, _ shown: UnderWay.Transfer
    ) async throws -> Fetched {
        let sink: FetchSink
        do {
            if let landing = job.record.landing ?? context.notTaken.withLock({ $0.removeValue(forKey: job.id) }),
                let whole = try wholeFile(of: job, landing)
            {
                counters.change { $0.bytesDone += landing.size }
                return whole
            }
            sink = FetchSink(try tree.incomingFile(job.incomingName), of: job, by: context, shown)
        } catch {
            throw FetchFailure.disk(error)
        }
        let there = sink.file.size
        let goesOn = job.version.strength == .strong && job.size.map { there < $0 } ?? true
        let request = DownloadRequest(
            version: job.version, size: job.size, lastModified: job.lastModified, mimeType: job.mimeType,
            offset: goesOn ? there : 0)
        do {
            let summary = try await context.source.get(job.serverPath, request: request, after: first, into: sink)
            return try finish(sink, job, lastModified: summary.head.lastModified)
        } catch {
            sink.uncount()
            if sink.head?.isResumable == false { sink.file.abandon() }
            throw FetchFailure(error, received: sink.received, gained: sink.hasGained)
        }
    }

    /// Returns the file in `incoming/` that a landing describes, if its bytes have the journalled digest.
    func wholeFile(of job: Job, _ landing: Landing) throws(Failure) -> Fetched? {
        for name in job.incomingNames where tree.incomingSize(name) == landing.size {
            let file = try tree.incomingFile(name).finish(modified: landing.modified)
            if file.digest == landing.digest { return Fetched(job: job, file: file, version: landing.etag) }
            tree.abandonIncoming(name)
        }
        return nil
    }

    /// Removes the bytes that were fetched for a download.
    func abandonIncoming(_ job: Job) {
        for name in job.incomingNames { tree.abandonIncoming(name) }
    }

    private func finish(_ sink: FetchSink, _ job: Job, lastModified: Timestamp?) throws -> Fetched {
        let file: CompletedFile
        do {
            file = try sink.file.finish(modified: job.lastModified ?? lastModified)
        } catch {
            throw FetchFailure.disk(error)
        }
        if let size = sink.head?.size ?? job.size, file.size != size {
            let failure = Failure(
                .protocolViolation, "\(job.path): the server sent \(file.size) bytes instead of \(size)")
            throw FetchFailure.brokenOff(failure, gained: false)
        }
        for checksum in sink.head?.checksums ?? [] {
            guard let algorithm = ChecksumAlgorithm(checksum.algorithm), let value = file.checksum(algorithm) else {
                continue
            }
            guard value == checksum.value else {
                throw FetchFailure.wrongChecksum(
                    Failure(
                        .protocolViolation,
                        "\(job.path): the downloaded content does not have the server's \(algorithm.rawValue) checksum",
                        hint: "Check whether the file can be read on the server"))
            }
        }
        return Fetched(job: job, file: file, version: sink.head?.version ?? job.version)
    }
}

/// A sink that writes a download's bytes into `incoming/`.
private final class FetchSink: DownloadSink {
    let file: IncomingFile
    private(set) var head: DownloadHead?
    /// The number of bytes received, or nil before an answer came.
    private(set) var received: Int64?
    private let job: Job
    private let context: ActionContext
    private let shown: UnderWay.Transfer
    /// The number of this file's bytes that were added to the counters.
    private var counted: Int64 = 0

    init(_ file: IncomingFile, of job: Job, by context: ActionContext, _ shown: UnderWay.Transfer) {
        self.file = file
        self.job = job
        self.context = context
        self.shown = shown
        count(file.size)
    }

    /// Whether the download resumed what an earlier try had left and came enough closer to the end.
    var hasGained: Bool {
        guard let head, let received, head.offset > 0, file.size != job.size else { return false }
        return RetryDecision.isGain(received, of: (head.size ?? job.size).map { $0 - head.offset })
    }

    /// Takes the counted bytes back, since the download is not done.
    func uncount() { count(-counted) }

    private func count(_ bytes: Int64) {
        counted += bytes
        shown.add(bytes)
        context.counters.change { $0.bytesDone += bytes }
        context.room.withLock { $0.received(bytes, by: context.gauge.owner(job.id)) }
    }

    func begin(_ head: DownloadHead) throws {
        let algorithms = head.checksums.compactMap { ChecksumAlgorithm($0.algorithm) }
        do {
            if head.offset == 0 {
                uncount()
                try file.restart(computing: algorithms)
                if !head.isResumable { try file.rename(to: job.unprovenName) }
            } else {
                try file.compute(algorithms)
            }
        } catch {
            throw FetchFailure.disk(error)
        }
        guard head.offset == file.size else {
            throw FetchFailure.brokenOff(
                Failure(.protocolViolation, "The server continued the download at another position than requested"),
                gained: false)
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
    /// The name in `incoming/`. It contains the record and a hash of the version, so that only the same record and
    /// version resume the file.
    var incomingName: String { Self.incomingName(of: id, version: version) }

    static func incomingName(of id: SyncRecordID, version: ETag) -> String {
        "\(id)-\(String(version.shortHash, radix: 16))"
    }

    /// The name of a file that came without proof of its version. A part of such a file is never resumed.
    var unprovenName: String { incomingName + "-u" }

    var incomingNames: [String] { [incomingName, unprovenName] }

    /// Returns the record to which a file in `incoming/` belongs, or nil if the file is no download.
    static func record(ofIncoming name: String) -> SyncRecordID? {
        name.split(separator: "-").first.flatMap { Int64($0) }.map(SyncRecordID.init)
    }
}

extension ETag {
    /// The FNV-1a hash, 64 bits, of the tag and its strength.
    fileprivate var shortHash: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in opaque.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return (hash ^ UInt64(strength.rawValue)) &* 0x100_0000_01b3
    }
}

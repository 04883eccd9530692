import Connection
import Database
import LocalTree
import Logging
import Model
import Synchronization

extension ItemListUpdate {
    private enum Event: Sendable {
        case listed(ScanJob, Listed)
        /// The walk takes long enough for going on where it was cut off to be worth writing down.
        case late
    }

    private static let lateAfter: Duration = .seconds(1.5)

    /// Lists folders, and what is found to be listed below them, each once.
    /// - Returns: those that were not listed.
    func walk(
        _ first: [ScanJob], _ kept: KeptJobs, _ root: RootListing?, started: Timestamp, _ etagsNameWrites: Bool,
        _ outcome: inout Outcome
    ) async throws -> [ScanJob] {
        let listed = ListedFolders()
        let writer = MergeWriter(database: database)
        let context = FolderMerge.Context(
            started: started, keepsAllJobs: { kept.isOn }, isListed: { listed.contains($0) },
            etagsNameWrites: etagsNameWrites, reservesDotLarder: reservesDotLarder, fetchesAgain: fetchesAgain)
        var queue = first
        var next = 0
        var running: [ItemPath: ScanJob] = [:]
        var left: [ScanJob] = []
        var unanswered = 0
        do {
            try await withThrowingTaskGroup(of: Event.self) { group in
                if !kept.isOn {
                    group.addTask { [clock] in
                        try await clock.sleep(Self.lateAfter)
                        return .late
                    }
                }
                defer { group.cancelAll() }
                while true {
                    while !outcome.isCutOff, running.count < concurrency, next < queue.count {
                        let job = queue[next]
                        next += 1
                        running[job.path] = job
                        let root = job.path.isRoot ? root : nil
                        group.addTask {
                            .listed(job, try await list(job, root, context: context, writer: writer))
                        }
                    }
                    if next > 4096 {
                        queue.removeFirst(next)
                        next = 0
                    }
                    guard !running.isEmpty, let event = try await group.next() else { break }
                    guard case .listed(let job, let result) = event else {
                        try await kept.keep(left + running.values + queue[next...])
                        continue
                    }
                    running[job.path] = nil
                    switch result {
                    case .folder(let result):
                        unanswered = 0
                        outcome.folders += 1
                        listed.insert(job.path)
                        queue += result.jobs
                        if kept.isOn, !result.keptJobs { try await kept.exchange(job, for: result.jobs) }
                        if result.changed { outcome.changed = true }
                        // Elsewhere nobody believes them.
                        if result.contradictsETag, etagsNameWrites { try await distrustETags(of: job.path) }
                    case .gone:
                        outcome.changed = true
                    case .failed(let error):
                        left.append(job)
                        outcome.isComplete = false
                        guard error.kind != .cancelled else {
                            outcome.isCutOff = true
                            continue
                        }
                        outcome.failed[job.path] = error
                        // That there is no way to the server is told by who looks for it next, once.
                        let isToldLater = error.kind == .unreachable && !error.isTimeout && job.path.isRoot
                        logger.log(
                            level: isToldLater ? .debug : .warning, "Listing failed",
                            metadata: ["path": "\(job.path)", "error": "\(error.failure.message)"])
                        if error.isOfServer { unanswered += 1 }
                        // Below a root that is not answered there is nothing to go on with: three in a row would never come together.
                        let isAway = error.kind == .unreachable && !error.isClosed || error.status == 503
                        if error.concernsAccount || error.kind == .maintenance || job.path.isRoot && isAway
                            || unanswered >= 3
                        {
                            outcome.isCutOff = true
                        }
                    }
                }
            }
        } catch is CancellationError {
            outcome.isCutOff = true
        }
        return left + running.values + queue[next...]
    }

    /// A folder's ETag was the same although something in it had changed: from now on each scan lists every folder.
    private func distrustETags(of path: ItemPath) async throws {
        let isNews = try await database.write { tx in
            guard try tx.meta.integer(.etagsWereWrong) != 1 else { return false }
            try tx.meta.set(.etagsWereWrong, 1)
            return true
        }
        if isNews {
            logger.warning(
                "The server's folder ETags do not tell of all changes: from now on each scan lists every folder",
                metadata: ["path": "\(path)"])
        }
    }
}

extension ConnectionError {
    /// Whether other folders will hardly be answered either.
    fileprivate var isOfServer: Bool { kind == .unreachable || status == 429 || status == 503 }
}

/// The folders that a scan has listed to their end.
private final class ListedFolders: Sendable {
    private let paths = Mutex<Set<ItemPath>>([])

    func insert(_ path: ItemPath) { paths.withLock { _ = $0.insert(path) } }
    func contains(_ path: ItemPath) -> Bool { paths.withLock { $0.contains(path) } }
}

/// Whether what a scan has still to list is in the database, for a later one to go on with.
///
/// A walk over everything that is done in a moment writes nothing of it.
final class KeptJobs: Sendable {
    private let database: Database
    /// When the walk over everything began, if it is one.
    private let walk: Timestamp?
    private let state: Mutex<Bool>

    init(_ database: Database, walk: Timestamp?, isOn: Bool) {
        (self.database, self.walk) = (database, walk)
        state = Mutex(isOn)
    }

    /// From then on each folder that was listed is exchanged for those in it, in the transaction that merges it.
    var isOn: Bool { state.withLock { $0 } }

    /// Keeps all that is left, unless that is so already.
    func keep(_ jobs: [ScanJob]) async throws {
        guard !isOn else { return }
        try await database.write { [self] tx in
            for job in jobs { try tx.scan.add(job) }
            if let walk { try tx.openWalk(begun: walk) }
            // Transactions are one after the other: what is merged after this sees it.
            state.withLock { $0 = true }
        }
    }

    /// A folder was merged just before the others were kept.
    func exchange(_ job: ScanJob, for jobs: [ScanJob]) async throws {
        try await database.write { tx in
            try tx.scan.removeJob(job.path)
            for job in jobs { try tx.scan.add(job) }
        }
    }
}

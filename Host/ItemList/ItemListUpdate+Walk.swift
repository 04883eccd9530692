import Connection
import Database
import LocalTree
import Logging
import Model
import Synchronization

extension ItemListUpdate {
    private enum Event: Sendable {
        case listed(ScanJob, Listed)
        /// The time after which it is worth recording where a later scan can continue the walk.
        case late
    }

    private static let lateAfter: Duration = .seconds(1.5)

    /// Lists folders, and the folders below them that must be listed, each once.
    /// - Parameter showsTrust: Whether what is found shows if the server's folder ETags tell of changes: in a walk over
    ///   everything, where every listing has the same reason.
    /// - Returns: The folders that were not listed.
    func walk(
        _ first: [ScanJob], _ listed: ListedFolders, _ kept: KeptJobs, _ root: BegunListing?, started: Timestamp,
        etagsNameWrites: Bool,
        showsTrust: Bool, _ outcome: inout Outcome
    ) async throws -> [ScanJob] {
        let writer = MergeWriter(database: database)
        let context = FolderMerge.Context(
            started: started, keepsAllJobs: { kept.isOn }, isListed: { listed.contains($0) },
            noteListed: { noteListed($0, in: listed) }, etagsNameWrites: etagsNameWrites,
            reservesDotLarder: reservesDotLarder,
            fetchesAgain: fetchesAgain,
            finishedChanges: finishedChanges)
        var queue = first
        var next = 0
        var running: [ItemPath: ScanJob] = [:]
        var left: [ScanJob] = []
        var held = HeldFolders()
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
                    while !outcome.isCutOff, running.count < concurrency(), next < queue.count {
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
                    if running.isEmpty, !outcome.isCutOff { queue += try await decide(&held, writer, &outcome) }
                    if running.isEmpty, next < queue.count, !outcome.isCutOff { continue }
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
                        queue += result.jobs
                        held.add(result)
                        if kept.isOn, !result.keptJobs {
                            try await kept.exchange(job, for: result.jobs + (result.held == nil ? [] : [job]))
                        }
                        if result.changed { outcome.changed = true }
                        outcome.evidence.add(result.evidence)
                        if result.evidence.contradicts, showsTrust {
                            try await noteWalk(result.evidence, of: job.path, begun: started)
                        }
                    case .gone:
                        outcome.changed = true
                        listed.noteWanted(job.path)
                    case .failed(let error):
                        left.append(job)
                        outcome.isComplete = false
                        guard error.kind != .cancelled else {
                            outcome.isCutOff = true
                            continue
                        }
                        outcome.failed[job.path] = error
                        // If the server cannot be reached, the next check of the server reports this, once.
                        let isToldLater = error.kind == .unreachable && !error.isTimeout && job.path.isRoot
                        logger.log(
                            level: isToldLater ? .debug : .warning, "The folder could not be listed",
                            metadata: ["path": "\(job.path)", "error": "\(error.failure.message)"])
                        if error.isOfServer { unanswered += 1 }
                        // If the root is not answered, no other folder follows: three failures in a row would never
                        // occur.
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

    /// Records what a walk over everything showed about the server's folder ETags.
    /// - Parameter path: The folder whose ETag was unchanged although something in the folder had changed.
    func noteWalk(_ evidence: ETagTrust.Evidence, of path: ItemPath? = nil, begun started: Timestamp) async throws {
        let believed = try await database.write { try $0.noteWalk(evidence, begun: started) }
        guard believed.before != believed.now else { return }
        if believed.now {
            logger.notice("The server's folder ETags have shown all changes for days, and are believed again")
        } else {
            logger.warning(
                "The server's folder ETags do not show all changes: from now on each scan lists every folder",
                metadata: path.map { ["path": "\($0)"] } ?? [:])
        }
    }
}

extension ConnectionError {
    /// Whether other folders will hardly be answered either.
    fileprivate var isOfServer: Bool { kind == .unreachable || status == 429 || status == 503 }
}

/// The state of a scan's remaining folders: whether they are kept in the database, so that a later scan can continue
/// with them.
///
/// A walk over everything that ends quickly writes none of them.
final class KeptJobs: Sendable {
    private let database: Database
    /// The time when the walk over everything began, or nil if the scan is no such walk.
    private let walk: Timestamp?
    private let state: Mutex<Bool>

    init(_ database: Database, walk: Timestamp?, isOn: Bool) {
        (self.database, self.walk) = (database, walk)
        state = Mutex(isOn)
    }

    /// Whether the folders are kept. Once they are, each listed folder is replaced by the folders in it, in the
    /// transaction that merges the folder.
    var isOn: Bool { state.withLock { $0 } }

    /// Keeps all remaining folders, unless they are kept already.
    func keep(_ jobs: [ScanJob]) async throws {
        guard !isOn else { return }
        try await database.write { [self] tx in
            for job in jobs { try tx.scan.add(job) }
            if let walk { try tx.openWalk(begun: walk) }
            // Transactions run one after the other, so each later merge sees the new value.
            state.withLock { $0 = true }
        }
    }

    /// Replaces a folder by the folders in it, for a folder that was merged just before the others were kept.
    func exchange(_ job: ScanJob, for jobs: [ScanJob]) async throws {
        try await database.write { tx in
            try tx.scan.removeJob(job.path)
            for job in jobs { try tx.scan.add(job) }
        }
    }
}

import Connection
import Logging
import Model
import Storage
import Synchronization

/// Finds what changed on the server and brings the database up to date with it: one scan at a time.
///
/// A listing that fails, is cut off or makes no sense removes nothing: only a folder that was listed to its end has its
/// missing items removed, and only a scan in which every folder was listed counts as complete.
struct ItemListUpdate: Sendable {
    let database: Database
    let connection: Connection
    let clock: HostClock
    let logger: Logger
    /// How many folders are listed and merged at once.
    let concurrency: Int
    let reservesDotLarder: Bool
    let removalGuard: RemovalGuard?
    /// Called after each transaction that may have journalled moves of the tree.
    let carryOutMoves: @Sendable () async throws -> Void

    /// What a scan came to.
    struct Outcome: Sendable {
        /// Whether every folder that had to be listed was.
        var isComplete = true
        var changed = false
        /// Whether so much was missing that a person decides first.
        var isHeld = false
        var failures: [Failure] = []
        /// How many folders were listed.
        var folders = 0
    }

    private enum Listed: Sendable {
        case folder(FolderMerge.Result)
        /// The folder is not on the server any more.
        case gone
        case failed(ConnectionError)
    }

    /// Scans once.
    /// - Parameters:
    ///   - mode: `.byETags` where the root's ETag tells of all changes below.
    ///   - root: the root as it was listed just now, if it was.
    ///   - listing: its listing, if that has just begun.
    ///   - etagsNameWrites: whether the server gives each write an ETag of its own.
    /// - Throws: `Failure` of the database or the tree, and `CancellationError`.
    func update(
        _ mode: ScanMode, root: ListedItem? = nil, listing: RootListing? = nil, etagsNameWrites: Bool = false
    ) async throws -> Outcome {
        let started = clock.now()
        var outcome = Outcome()
        var goesOn = false
        if mode == .whole {
            goesOn = try await database.write { try $0.beginWholeWalk(at: started, etagsTell: etagsNameWrites) }
        }
        guard let jobs = try await firstJobs(mode, root: root, &outcome) else { return outcome }
        let keepsAllJobs = mode == .byETags || goesOn
        try await walk(jobs, keepsAllJobs: keepsAllJobs, listing, started: started, etagsNameWrites, &outcome)
        let isComplete = outcome.isComplete
        // Since when it is known: a long scan is no age.
        let ended = clock.now()
        outcome.isHeld = try await database.write { [removalGuard] tx in
            let isHeld = try tx.settleMissing(guardedBy: removalGuard, at: ended)
            guard isComplete else { return isHeld }
            try tx.keepModifiedOfRemoved()
            try tx.endScan(mode, begun: started)
            return isHeld
        }
        return outcome
    }

    /// The folders to begin with; nil if nothing is to be done, which the outcome then says.
    private func firstJobs(_ mode: ScanMode, root: ListedItem?, _ outcome: inout Outcome) async throws -> [ScanJob]? {
        guard mode == .byETags else { return [ScanJob(path: .root, isWhole: true)] }
        let (left, listedETag) = try await database.read { tx in
            (try tx.scanJobs(), try tx.scanRow(at: .root)?.listedETag)
        }
        do {
            var root = root
            if root == nil { root = try await connection.list(.root, depth: .zero) { _ in }.folder }
            let isUnchanged = root?.etag.map { listedETag?.hasSameBytes(as: $0.opaque) ?? false } ?? false
            if isUnchanged && left.isEmpty {
                let now = clock.now()
                outcome.isHeld = try await database.write { [removalGuard] tx in
                    try tx.endScan(mode, begun: now)
                    return try tx.settleMissing(guardedBy: removalGuard, at: now)
                }
                return nil
            }
            let listsRoot = left.contains { $0.path.isRoot }
            return (isUnchanged || listsRoot ? [] : [ScanJob(path: .root, isWhole: false)]) + left
        } catch let error as ConnectionError {
            outcome.isComplete = false
            outcome.failures.append(error.failure)
            return nil
        }
    }

    private func walk(
        _ first: [ScanJob], keepsAllJobs: Bool, _ root: RootListing?, started: Timestamp, _ etagsNameWrites: Bool,
        _ outcome: inout Outcome
    ) async throws {
        let listed = ListedFolders()
        let writer = MergeWriter(database: database)
        let context = FolderMerge.Context(
            started: started, keepsAllJobs: keepsAllJobs, isListed: { listed.contains($0) },
            etagsNameWrites: etagsNameWrites,
            reservesDotLarder: reservesDotLarder)
        var queue = first
        var next = 0
        var gaveUp = false
        var unanswered = 0
        try await withThrowingTaskGroup(of: (ScanJob, Listed).self) { group in
            var running = 0
            while true {
                while !gaveUp, running < concurrency, next < queue.count {
                    let job = queue[next]
                    next += 1
                    running += 1
                    let root = job.path.isRoot ? root : nil
                    group.addTask { (job, try await list(job, root, context: context, writer: writer)) }
                }
                if next > 4096 {
                    queue.removeFirst(next)
                    next = 0
                }
                guard let (job, result) = try await group.next() else { break }
                running -= 1
                switch result {
                case .folder(let result):
                    unanswered = 0
                    outcome.folders += 1
                    listed.insert(job.path)
                    queue += result.jobs
                    if result.changed { outcome.changed = true }
                    // Elsewhere nobody believes them.
                    if result.contradictsETag, etagsNameWrites { try await distrustETags(of: job.path) }
                case .gone:
                    outcome.changed = true
                case .failed(let error):
                    outcome.isComplete = false
                    outcome.failures.append(error.failure)
                    logger.warning(
                        "Listing failed", metadata: ["path": "\(job.path)", "error": "\(error.failure.message)"])
                    if error.kind == .unreachable { unanswered += 1 }
                    gaveUp = gaveUp || error.concernsAccount || error.kind == .maintenance || unanswered >= 3
                }
            }
        }
    }

    /// - Parameter begun: the folder's listing, if that has begun.
    private func list(
        _ job: ScanJob, _ begun: RootListing? = nil, context: FolderMerge.Context, writer: MergeWriter
    ) async throws -> Listed {
        do {
            return try await Patience.trying(clock, upTo: Patience.tries) {
                try await listOnce(job, begun, context: context, writer: writer)
            }
        } catch let error as ConnectionError {
            guard error.kind == .notFound, !job.path.isRoot else { return .failed(error) }
            try await writer.write { tx in
                if let row = try tx.scanRow(at: job.path) { _ = try tx.noteMissing(row.databaseID) }
                try tx.removeScanJob(job.path)
            }
            return .gone
        }
    }

    private func listOnce(
        _ job: ScanJob, _ begun: RootListing?, context: FolderMerge.Context, writer: MergeWriter
    ) async throws -> Listed {
        let merge = FolderMerge(job: job, context: context)
        // The last batch is written with the folder's end: most folders are one batch.
        var last: (entries: [ListedItem], date: Timestamp?)?
        let take = { (entries: [ListedItem], date: Timestamp?) async throws in
            if let earlier = last {
                try await writer.write { tx in try merge.merge(earlier.entries, listedAt: earlier.date, in: tx) }
            }
            last = (entries, date)
        }
        var told: Listing?
        if let begun { told = try await connection.list(begun, onBatch: take) }
        let listing = if let told { told } else { try await connection.list(job.path, depth: .one, onBatch: take) }
        let result = Mutex(FolderMerge.Result())
        try await writer.write { [last] tx in
            if let last { try merge.merge(last.entries, listedAt: last.date, in: tx) }
            let finished = try merge.finish(listing, in: tx)
            result.withLock { $0 = finished }
        }
        let merged = result.withLock { $0 }
        if merged.movesTree { try await carryOutMoves() }
        return .folder(merged)
    }

    /// Lists one folder again, since the server has something else there than the database says.
    func relist(_ folder: ItemPath) async {
        do {
            if let error = try await listAgain(folder) {
                logger.warning("Listing failed", metadata: ["path": "\(folder)", "error": "\(error.message)"])
            }
        } catch {
            logger.error("\(error)", metadata: ["path": "\(folder)"])
        }
    }

    /// Lists one folder.
    /// - Parameter etagsNameWrites: whether the server gives each write an ETag of its own.
    /// - Returns: why it was not listed; nil if it was.
    /// - Throws: `Failure` of the database or the tree, and `CancellationError`.
    func listAgain(_ folder: ItemPath, etagsNameWrites: Bool = false) async throws -> ConnectionError? {
        let started = clock.now()
        let context = FolderMerge.Context(
            started: started, isListed: { _ in false }, etagsNameWrites: etagsNameWrites,
            reservesDotLarder: reservesDotLarder)
        let job = ScanJob(path: folder, isWhole: false)
        let result = try await list(job, context: context, writer: MergeWriter(database: database))
        try await database.write { [removalGuard] tx in
            _ = try tx.settleMissing(in: folder, guardedBy: removalGuard, at: started)
        }
        if case .failed(let error) = result { return error }
        return nil
    }

    /// A folder's ETag was the same although something in it had changed: from now on everything is walked.
    private func distrustETags(of path: ItemPath) async throws {
        let isNews = try await database.write { tx in
            guard try tx.metaInteger(.etagsWereWrong) != 1 else { return false }
            try tx.setMeta(.etagsWereWrong, .integer(1))
            return true
        }
        if isNews {
            logger.warning(
                "The server's folder ETags do not tell of all changes: from now on everything is walked",
                metadata: ["path": "\(path)"])
        }
    }
}

/// The folders that a scan has listed to their end.
private final class ListedFolders: Sendable {
    private let paths = Mutex<Set<ItemPath>>([])

    func insert(_ path: ItemPath) { paths.withLock { _ = $0.insert(path) } }
    func contains(_ path: ItemPath) -> Bool { paths.withLock { $0.contains(path) } }
}

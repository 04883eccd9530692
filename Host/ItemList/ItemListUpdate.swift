package import Connection
package import Database
import LocalTree
package import Logging
package import Model
import Synchronization
import Threads

/// Finds what changed on the server and brings the database up to date with it: one scan at a time.
///
/// A listing that fails, is cut off or makes no sense removes nothing: only a folder that was listed to its end has its
/// missing items removed, and only a scan in which every folder was listed counts as complete.
package struct ItemListUpdate: Sendable {
    let database: Database
    let connection: Connection
    let clock: HostClock
    let logger: Logger
    /// How many folders are listed and merged at once.
    let concurrency: Int
    let reservesDotLarder: Bool
    let removalGuard: RemovalGuard?
    /// Called after each transaction that may have journalled moves of the tree.
    package let carryOutMoves: @Sendable () async throws -> Void
    /// Has a copy fetched once more that may hold the first of two contents with one ETag.
    let fetchesAgain: @Sendable (LocalID, Transaction) throws -> Void

    package init(
        database: Database, connection: Connection, clock: HostClock, logger: Logger, concurrency: Int,
        reservesDotLarder: Bool, removalGuard: RemovalGuard?,
        carryOutMoves: @escaping @Sendable () async throws -> Void,
        fetchesAgain: @escaping @Sendable (LocalID, Transaction) throws -> Void
    ) {
        (self.database, self.connection, self.clock, self.logger) = (database, connection, clock, logger)
        (self.concurrency, self.reservesDotLarder) = (concurrency, reservesDotLarder)
        (self.removalGuard, self.carryOutMoves, self.fetchesAgain) = (removalGuard, carryOutMoves, fetchesAgain)
    }

    /// What a scan came to.
    package struct Outcome: Sendable {
        /// Whether every folder that had to be listed was.
        package var isComplete: Bool
        /// Whether it gave up before all of them were asked for, since the server does not answer.
        package var isCutOff: Bool
        package var changed = false
        /// Whether so much was missing that a person decides first.
        package var isHeld = false
        /// The folders that could not be listed, and why.
        package var failed: [ItemPath: ConnectionError] = [:]
        /// How many folders were listed.
        package var folders = 0

        package init(isComplete: Bool = true, isCutOff: Bool = false) {
            (self.isComplete, self.isCutOff) = (isComplete, isCutOff)
        }

        /// The failures as a person gets them, by their folders' paths.
        package var failures: [Failure] { failed.sorted { $0.key < $1.key }.map(\.value.failure) }
    }

    enum Listed: Sendable {
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
    ///   - waits: whether a folder that an earlier scan left is left for a later one.
    /// - Throws: `Failure` of the database or the tree, and `CancellationError`.
    package func update(
        _ mode: ScanMode, root: ListedItem? = nil, listing: RootListing? = nil, etagsNameWrites: Bool = false,
        waits: (ItemPath) -> Bool = { _ in false }
    ) async throws -> Outcome {
        let started = clock.now()
        var outcome = Outcome()
        var keepsJobs = true
        if mode == .whole {
            keepsJobs = try await database.write { try $0.beginWholeWalk(at: started, etagsTell: etagsNameWrites) }
        }
        if try await !database.read({ try $0.scan.hasRemovalMemory() }) {
            try await database.write { tx in try tx.scan.noteKnown(tx.items.knownCount(), at: started) }
        }
        guard let jobs = try await firstJobs(mode, root: root, waits, &outcome) else {
            try await carryOutMoves()
            return outcome
        }
        let kept = KeptJobs(database, walk: mode == .whole ? started : nil, isOn: keepsJobs)
        let left = try await walk(jobs, kept, listing, started: started, etagsNameWrites, &outcome)
        if !left.isEmpty {
            outcome.isComplete = false
            // Also when the run is called off.
            try await Task(executorPreference: Workplace.single) { try await kept.keep(left) }.value
        }
        try Task.checkCancellation()
        let (isComplete, changed) = (outcome.isComplete, outcome.changed)
        // Since when it is known: a long scan is no age.
        let ended = clock.now()
        outcome.isHeld = try await database.write { [removalGuard] tx in
            let isHeld = try tx.decideMissing(guardedBy: removalGuard, at: ended)
            if changed, !isHeld { try tx.scan.noteKnown(tx.items.knownCount(), at: ended) }
            guard isComplete else { return isHeld }
            try tx.items.keepModifiedOfRemoved()
            try tx.endScan(mode, begun: started)
            return isHeld
        }
        // Some may have waited for what was decided.
        try await carryOutMoves()
        return outcome
    }

    /// The folders to begin with; nil if nothing is to be done, which the outcome then says.
    private func firstJobs(
        _ mode: ScanMode, root: ListedItem?, _ waits: (ItemPath) -> Bool, _ outcome: inout Outcome
    ) async throws -> [ScanJob]? {
        if mode == .whole { return [ScanJob(path: .root, isWhole: true)] }
        let (left, listedETag) = try await database.read { tx in
            (try tx.scan.jobs(), try tx.items.scanRow(at: .root)?.listedETag)
        }
        let due = left.filter { !waits($0.path) }
        if due.count < left.count { outcome.isComplete = false }
        if mode == .rest { return due }
        do {
            var root = root
            if root == nil { root = try await connection.list(.root, depth: .zero) { _ in }.folder }
            let isUnchanged = root?.etag.map { listedETag?.hasSameBytes(as: $0.opaque) ?? false } ?? false
            if isUnchanged && left.isEmpty {
                let now = clock.now()
                outcome.isHeld = try await database.write { [removalGuard] tx in
                    try tx.endScan(mode, begun: now)
                    return try tx.decideMissing(guardedBy: removalGuard, at: now)
                }
                return nil
            }
            if isUnchanged || left.contains(where: \.path.isRoot) { return due }
            if waits(.root) {
                outcome.isComplete = false
                return due
            }
            return [ScanJob(path: .root, isWhole: false)] + due
        } catch let error as ConnectionError {
            (outcome.isComplete, outcome.isCutOff) = (false, true)
            outcome.failed[.root] = error
            return nil
        }
    }

    /// Lists a folder once.
    /// - Parameter begun: its listing, if that has begun.
    func list(
        _ job: ScanJob, _ begun: RootListing? = nil, context: FolderMerge.Context, writer: MergeWriter
    ) async throws -> Listed {
        do {
            return try await listOnce(job, begun, context: context, writer: writer)
        } catch let error as ConnectionError {
            guard error.kind == .notFound, !job.path.isRoot else { return .failed(error) }
            return try await findMissingFolder(job.path, writer: writer)
        }
    }

    /// A folder is not at its path any more. If the one above is there, it is gone or was moved; if not, one of those above was, and
    /// nothing is known of this one. A folder that was moved keeps its ETag, and may be listed at its new place without what is below
    /// it: so the next scan looks from the root on.
    private func findMissingFolder(_ path: ItemPath, writer: MergeWriter) async throws -> Listed {
        var isAboveThere = true
        do {
            _ = try await connection.list(path.parent, depth: .zero) { _ in }
        } catch let error as ConnectionError {
            guard error.kind == .notFound else { return .failed(error) }
            isAboveThere = false
        }
        try await writer.write { [isAboveThere] tx in
            try tx.items.forgetListings(above: path)
            if isAboveThere, let row = try tx.items.scanRow(at: path) { _ = try tx.scan.noteMissing(row.databaseID) }
            try tx.scan.removeJob(path)
        }
        return .gone
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
    package func relist(_ folder: ItemPath) async {
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
    package func listAgain(_ folder: ItemPath, etagsNameWrites: Bool = false) async throws -> ConnectionError? {
        let started = clock.now()
        let context = FolderMerge.Context(
            started: started, isListed: { _ in false }, etagsNameWrites: etagsNameWrites,
            reservesDotLarder: reservesDotLarder, fetchesAgain: fetchesAgain)
        let job = ScanJob(path: folder, isWhole: false)
        let writer = MergeWriter(database: database)
        let failure: ConnectionError?
        do {
            failure = try await ListingRetry.trying(clock, upTo: ListingRetry.tries) {
                if case .failed(let error) = try await list(job, context: context, writer: writer) { throw error }
                return nil
            }
        } catch let error as ConnectionError {
            failure = error
        }
        try await database.write { [removalGuard] tx in
            _ = try tx.decideMissing(in: folder, guardedBy: removalGuard, at: started)
        }
        return failure
    }
}

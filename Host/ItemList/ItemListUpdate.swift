package import Connection
package import Database
import LocalTree
package import Logging
package import Model
import Synchronization
import Threads

/// The item list update: finds what changed on the server and brings the database up to date. Only one scan runs at a
/// time.
///
/// A listing that fails, is cut off or makes no sense removes nothing. Missing items are only removed from a folder
/// that was listed completely, and only a scan in which every folder was listed counts as complete.
package struct ItemListUpdate: Sendable {
    let database: Database
    let connection: Connection
    let clock: HostClock
    let logger: Logger
    /// The number of folders that are listed and merged at once.
    let concurrency: @Sendable () -> Int
    let reservesDotLarder: Bool
    let removalGuard: RemovalGuard?
    /// Called after each transaction that may have journalled moves of the tree.
    package let carryOutMoves: @Sendable () async throws -> Void
    /// Called at the end of a scan that changed something, for folders that the server has elsewhere now.
    let removeLeftFolders: @Sendable () async throws -> Void
    /// Requests another download of a copy that may hold the first of two contents with one ETag.
    let fetchesAgain: @Sendable (LocalID, Transaction) throws -> Void
    /// What was changed on the server for this account while listings were under way.
    package let finishedChanges: FinishedChanges
    /// The folders that readers of lists want listed.
    package let refreshes: FolderRefreshes

    package init(
        database: Database, connection: Connection, clock: HostClock, logger: Logger,
        concurrency: @escaping @Sendable () -> Int,
        reservesDotLarder: Bool, removalGuard: RemovalGuard?,
        carryOutMoves: @escaping @Sendable () async throws -> Void,
        removeLeftFolders: @escaping @Sendable () async throws -> Void,
        fetchesAgain: @escaping @Sendable (LocalID, Transaction) throws -> Void,
        finishedChanges: FinishedChanges = FinishedChanges(), refreshes: FolderRefreshes = FolderRefreshes()
    ) {
        (self.database, self.connection, self.clock, self.logger) = (database, connection, clock, logger)
        (self.concurrency, self.reservesDotLarder) = (concurrency, reservesDotLarder)
        (self.removalGuard, self.carryOutMoves) = (removalGuard, carryOutMoves)
        (self.removeLeftFolders, self.fetchesAgain) = (removeLeftFolders, fetchesAgain)
        (self.finishedChanges, self.refreshes) = (finishedChanges, refreshes)
    }

    /// The outcome of a scan.
    package struct Outcome: Sendable {
        /// Whether every folder that had to be listed was listed.
        package var isComplete: Bool
        /// Whether the scan gave up before it requested all folders, since the server does not answer.
        package var isCutOff: Bool
        /// Whether something changed.
        package var changed = false
        /// Whether so many items are missing that a person must decide first.
        package var isHeld = false
        /// The folders that could not be listed, with the errors.
        package var failed: [ItemPath: ConnectionError] = [:]
        /// The number of folders that were listed.
        package var folders = 0
        /// What the listings showed about the server's folder ETags.
        var evidence = ETagTrust.Evidence()

        package init(isComplete: Bool = true, isCutOff: Bool = false) {
            (self.isComplete, self.isCutOff) = (isComplete, isCutOff)
        }

        /// The failures to show to a person, in the order of their folders' paths. A server that answers with an error
        /// for a folder, or closes the connection, and answers for others as it should, can be reached.
        package var failures: [Failure] {
            let isReached = !isCutOff && failed[.root] == nil
            return failed.sorted { $0.key < $1.key }.map { _, error in
                var failure = error.failure
                if isReached, error.kind == .serverError || error.isClosed { failure.kind = failure.kind.ofOneItem }
                return failure
            }
        }
    }

    enum Listed: Sendable {
        case folder(FolderMerge.Result)
        /// A folder that is no longer on the server.
        case gone
        case failed(ConnectionError)
    }

    /// Scans the server once.
    /// - Parameters:
    ///   - mode: The kind of scan. `.byETags` is for servers whose root ETag tells of all changes below.
    ///   - root: The root as listed just now, if it was listed.
    ///   - listing: The root's listing, if it has just begun.
    ///   - isFamily: Whether the server is of the ownCloud family, whose folder ETags tell of changes below, and which
    ///     gives each write an ETag of its own.
    ///   - waits: Tells whether a folder that an earlier scan left must be left for a later scan.
    /// - Throws: `Failure` of the database or the tree; `CancellationError` if the task was cancelled.
    package func update(
        _ mode: ScanMode, root: ListedItem? = nil, listing: BegunListing? = nil, isFamily: Bool = false,
        waits: (ItemPath) -> Bool = { _ in false }
    ) async throws -> Outcome {
        let listed = ListedFolders()
        defer { refreshes.noteDone(listed.wanted) }
        let started = clock.now()
        let areBelieved = try await database.read { try $0.etagTrust().areBelieved }
        let etagsNameWrites = isFamily && areBelieved
        let showsTrust = isFamily && mode == .whole
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
        let left = try await walk(
            jobs, listed, kept, listing, started: started, etagsNameWrites: etagsNameWrites, showsTrust: showsTrust,
            &outcome)
        if !left.isEmpty {
            outcome.isComplete = false
            // A task of its own keeps the folders also if the scan is cancelled.
            try await Task(executorPreference: Workplace.single) { try await kept.keep(left) }.value
        }
        try Task.checkCancellation()
        let (isComplete, changed) = (outcome.isComplete, outcome.changed)
        // The age of missing items begins when their absence is known. The duration of a long scan must not count as
        // age.
        let ended = clock.now()
        outcome.isHeld = try await database.write { [removalGuard] tx in
            let isHeld = try tx.decideMissing(guardedBy: removalGuard, at: ended)
            if changed, !isHeld { try tx.scan.noteKnown(tx.items.knownCount(), at: ended) }
            guard isComplete else { return isHeld }
            try tx.items.keepModifiedOfRemoved()
            try tx.endScan(mode, begun: started)
            return isHeld
        }
        // Some moves may have waited for the decision.
        try await carryOutMoves()
        if changed { try await removeLeftFolders() }
        if showsTrust, outcome.isComplete, !outcome.evidence.contradicts {
            try await noteWalk(outcome.evidence, begun: started)
        }
        return outcome
    }

    /// Returns the folders to begin with. Returns nil if there is nothing to do; the outcome then says why.
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
            if root == nil { root = try await connection.listings.list(.root, depth: .zero) { _ in }.folder }
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
    /// - Parameter begun: The folder's listing, if it has begun.
    func list(
        _ job: ScanJob, _ begun: BegunListing? = nil, context: FolderMerge.Context, writer: MergeWriter
    ) async throws -> Listed {
        do {
            return try await listOnce(job, begun, context: context, writer: writer)
        } catch let error as ConnectionError {
            guard error.kind == .notFound, !job.path.isRoot else { return .failed(error) }
            return try await findMissingFolder(job.path, writer: writer)
        }
    }

    /// Handles a folder that is no longer at its path. If its parent folder is there, the folder was removed or moved.
    /// If not, a folder further up was, and nothing is known about this folder. A moved folder keeps its ETag, and may
    /// be listed at its new path without the folders below it. The next scan therefore begins at the root.
    private func findMissingFolder(_ path: ItemPath, writer: MergeWriter) async throws -> Listed {
        var isAboveThere = true
        do {
            _ = try await connection.listings.list(path.parent, depth: .zero) { _ in }
        } catch let error as ConnectionError {
            guard error.kind == .notFound else { return .failed(error) }
            isAboveThere = false
        }
        try await writer.write { [isAboveThere] tx in
            try tx.items.forgetListings(above: path)
            // What is about to be moved is not yet at its new path, and what is about to be deleted may be gone.
            let places = try tx.journal.pendingPlaces(in: path.parent)
            if isAboveThere, !places.isWithin, places.entries[path] == nil, let row = try tx.items.scanRow(at: path) {
                _ = try tx.scan.noteMissing(row.databaseID)
            }
            try tx.scan.removeJob(path)
        }
        return .gone
    }

    /// The number of a folder's entries after which they are written. A server's order is not that of the indexes, so
    /// that each transaction of a large folder writes most of their pages anew.
    private static let entriesOfWrite = 2_048

    private func listOnce(
        _ job: ScanJob, _ begun: BegunListing?, context: FolderMerge.Context, writer: MergeWriter
    ) async throws -> Listed {
        let merge = FolderMerge(job: job, context: context, since: begun?.moment)
        // The last entries are written together with the folder's end, since most folders have few entries.
        var waiting: (entries: [ListedItem], date: Timestamp?) = ([], nil)
        var areAllWaiting = true
        let take = { (entries: [ListedItem], date: Timestamp?) async throws in
            if waiting.entries.count >= Self.entriesOfWrite {
                try await writer.write { [waiting] tx in
                    try merge.merge(waiting.entries, listedAt: waiting.date, in: tx)
                }
                waiting.entries = []
                areAllWaiting = false
            }
            waiting.entries += entries
            waiting.date = date
        }
        var told: Listing?
        if let begun { told = try await connection.listings.list(begun.listing, onBatch: take) }
        let listing =
            if let told { told } else { try await connection.listings.list(job.path, depth: .one, onBatch: take) }
        let result = Mutex(FolderMerge.Result())
        try await writer.write { [waiting, areAllWaiting] tx in
            try merge.merge(waiting.entries, areAll: areAllWaiting, listedAt: waiting.date, in: tx)
            let finished = try merge.finish(listing, in: tx)
            result.withLock { $0 = finished }
        }
        let merged = result.withLock { $0 }
        if merged.movesTree { try await carryOutMoves() }
        return .folder(merged)
    }

    /// Lists one folder again, since the server's content differs from the database's. Logs errors.
    package func relist(_ folder: ItemPath) async {
        do {
            if let error = try await listAgain(folder) {
                logger.warning(
                    "The folder could not be listed", metadata: ["path": "\(folder)", "error": "\(error.message)"])
            }
        } catch {
            let failure = error as? Failure
            var metadata: Logger.Metadata = ["path": "\(folder)"]
            if let hint = failure?.hint { metadata["hint"] = .stringConvertible(hint) }
            logger.error("\(failure?.message ?? "\(error)")", metadata: metadata)
        }
    }

    func noteListed(_ folder: ItemPath, in listed: ListedFolders) {
        listed.insert(folder)
        if refreshes.noteListed(folder, at: clock.awake()) { listed.noteWanted(folder) }
    }

    /// Lists one folder, with retries.
    /// - Parameter etagsNameWrites: Whether the server gives each write an ETag of its own.
    /// - Returns: The error if the folder was not listed, or nil if it was.
    /// - Throws: `Failure` of the database or the tree; `CancellationError` if the task was cancelled.
    package func listAgain(_ folder: ItemPath, etagsNameWrites: Bool = false) async throws -> ConnectionError? {
        let started = clock.now()
        let listed = ListedFolders()
        defer { refreshes.noteDone(listed.wanted) }
        let context = FolderMerge.Context(
            started: started, isListed: { listed.contains($0) }, noteListed: { noteListed($0, in: listed) },
            etagsNameWrites: etagsNameWrites, reservesDotLarder: reservesDotLarder, fetchesAgain: fetchesAgain,
            finishedChanges: finishedChanges)
        let writer = MergeWriter(database: database)
        var held = HeldFolders()
        let failure: ConnectionError?
        do {
            let job = ScanJob(path: folder, isWhole: false)
            try await ListingRetry.trying(clock, upTo: ListingRetry.tries) {
                switch try await list(job, context: context, writer: writer) {
                case .folder(let result): held.add(result)
                case .gone: listed.noteWanted(folder)
                case .failed(let error): throw error
                }
            }
            failure = nil
        } catch let error as ConnectionError {
            failure = error
        }
        var outcome = Outcome()
        while !held.isEmpty {
            // What is below the folder is left for the next scan.
            let places = try await decide(&held, writer, &outcome).filter { held.waits(for: $0.path) }
            if places.isEmpty { break }
            for place in places { _ = try await list(place, context: context, writer: writer) }
        }
        try await database.write { [removalGuard] tx in
            _ = try tx.decideMissing(in: folder, guardedBy: removalGuard, at: started)
        }
        return failure
    }
}

import Connection
import Database
import LocalTree
import Logging
import Model
import Synchronization

extension DownloadAction {
    // MARK: Going on alone

    /// Downloads a file whose first request was sent with a batch.
    /// - Parameter first: The answer to that request; nil if the file must be requested again.
    /// - Returns: The job with its outcome; nil if the record is gone.
    func goOn(
        _ file: Int, of batch: DownloadBatch, after first: FirstAnswer?
    ) async throws -> (Job, FetchOutcome)? {
        let record = batch.entries[file].record
        let job = try await database.read { reads in
            try reads.journal.record(id: record).flatMap { journal in
                try reads.items.item(localID: journal.localID).map { Job(journal, item: $0) }
            }
        }
        guard let job else { return nil }
        // Of what is wanted by now, something else may have been asked for.
        let isSame = job.version == batch.version(of: file) && job.serverPath == batch.path(of: file)
        let first = isSame ? first : nil
        let worker = DownloadWorker()
        context.gauge.measure(isForced: false)
        guard startFetch(job, by: worker) else { return (job, .notStarted) }
        let task = Task(executorPreference: context.downloadThreads[0]) { await fetch(job, after: first) }
        worker.work { task.cancel() }
        let outcome = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        worker.end()
        let wasCancelled = context.controls.takeEnder(of: record)
        if wasCancelled, case .failed = outcome { return (job, .cancelled) }
        return (job, outcome)
    }

    // MARK: Landing

    /// Journals the downloads of a batch that are about to be put in place.
    /// - Returns: Those that are journalled, and those that need a second thought.
    func journal(
        _ arrivals: [BatchArrival], in tx: Transaction
    ) throws -> (landable: [BatchArrival], others: [BatchArrival]) {
        guard !arrivals.isEmpty, try tx.moves.isEmpty else { return ([], arrivals) }
        let mayBeHeld = try tx.items.hasRemovedCopies()
        let believed = try arrivals.filter {
            try tree.isBelieved($0.result) && !(mayBeHeld && tx.items.isBesideRemovedCopy($0.path))
        }
        let areSet = try tx.journal.setLandings(of: believed.map { $0.download(mark: $0.result.mark) })
        let landable = zip(believed, areSet).filter(\.1).map(\.0)
        guard landable.count < arrivals.count else { return (landable, []) }
        let set = Set(landable.map(\.record))
        return (landable, arrivals.filter { !set.contains($0.record) })
    }

    /// Records in the items of downloads in place that their copies are here.
    /// - Parameter coverage: As ``EnginePartners/coverageVersion``.
    /// - Returns: False if one was completed that no policy covers any more, although only policies wanted it.
    func complete(
        _ placed: [BatchPlaced], _ isCovered: (Item, DownloadTrigger) throws -> Bool?, coverage: () -> Int?,
        in tx: Transaction
    ) throws -> Bool {
        guard !placed.isEmpty else { return true }
        let folders = TreeBatch(tree)
        let hasIssues = try tx.journal.haveIssues()
        let coverage = coverage()
        let areOrdinary = try placed.map { file in
            guard !hasIssues else { return false }
            let entry = file.arrival.entry
            guard entry.whileCovered, coverage == nil || file.arrival.batch.coverage != coverage else { return true }
            return try tx.items.item(databaseID: entry.item).map { try isCovered($0, entry.reason) == true } ?? false
        }
        let ordinary = zip(placed, areOrdinary).filter(\.1).map(\.0)
        let downloads = ordinary.map { file in
            file.arrival.download(mark: folders.renewed(file.mark, at: file.arrival.path))
        }
        let areDone = try tx.journal.complete(downloads, now: clock.now())
        let done = areDone.count { $0 }
        counters.change { $0.filesDone += done }
        for (download, isDone) in zip(downloads, areDone) where isDone { logger.debug("Downloaded \(download.path)") }
        let rest =
            zip(placed, areOrdinary).filter { !$0.1 }.map(\.0) + zip(ordinary, areDone).filter { !$0.1 }.map(\.0)
        let others = try rest.compactMap { try self.placed($0, in: tx) }
        var areAllCovered = true
        for other in others where try !complete(other, isCovered, in: tx) { areAllCovered = false }
        return areAllCovered
    }

    /// Returns a download of a batch as one that came alone; nil if its item is gone.
    private func fetched(_ arrival: BatchArrival, in tx: Transaction) throws -> Fetched? {
        let entry = arrival.entry
        let record = try tx.journal.record(id: arrival.record)
        guard let item = try tx.items.item(localID: record?.localID ?? entry.localID) else { return nil }
        var job = Job(
            record
                ?? SyncRecord(
                    action: .download, localID: item.localID, path: item.path, reason: entry.reason, key: nil,
                    since: clock.now(), whileCovered: entry.whileCovered),
            item: item)
        job.record.id = arrival.record
        // What the bytes are decides, and not what the item is by now.
        job.version = arrival.batch.version(of: arrival.file)
        return Fetched(
            job: job, file: arrival.result.file(named: arrival.incomingName), version: job.version)
    }

    private func placed(_ file: BatchPlaced, in tx: Transaction) throws -> Placed? {
        guard let fetched = try fetched(file.arrival, in: tx) else { return nil }
        return Placed(job: fetched.job, path: file.arrival.path, landing: fetched.landing, mark: file.mark)
    }

    /// Returns downloads of batches as ones that came alone. Those whose items are gone are removed.
    func alone(_ arrivals: [BatchArrival], in tx: Transaction) throws -> (fetched: [Fetched], gone: [SyncRecordID]) {
        var (fetched, gone): ([Fetched], [SyncRecordID]) = ([], [])
        for arrival in arrivals {
            if let one = try self.fetched(arrival, in: tx) {
                fetched.append(one)
            } else {
                tree.abandonIncoming(arrival.incomingName)
                gone.append(arrival.record)
            }
        }
        return (fetched, gone)
    }
}

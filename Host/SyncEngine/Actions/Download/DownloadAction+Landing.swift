import Database
import LocalTree
import Logging
import Model
import Synchronization

/// The result of putting a batch in place.
struct LandingOutcome: Sendable {
    /// Files in place. Their items are completed after the next sync of the file system.
    var placed: [Placed] = []
    /// The same for downloads of batches.
    var batched: [BatchPlaced] = []
    /// The downloads of batches that were completed.
    var completed: [SyncRecordID] = []
    var outcomes: [RecordOutcome] = []
    /// Whether an item was completed that no policy covers any more, although its download was only wanted by policies.
    var hasUncovered = false
    /// The failure of a disk that is full or broken. The files that were to be put in place or completed are as they
    /// were.
    var failure: Failure?
}

extension DownloadAction {
    /// Puts complete downloads in place, and completes the items of the downloads that were put in place before.
    ///
    /// One sync and one commit serve a batch. The sync makes the data of this batch and the renames of the batch before
    /// durable. The commit journals this batch's versions and digests, by which its files are recognised after a crash,
    /// and writes the items of the batch before. Then the files of this batch are renamed into place. The function
    /// blocks.
    /// - Parameters:
    ///   - arrivals: The downloads to put in place.
    ///   - placed: The downloads whose items are completed.
    ///   - started: The records that were started since the last transaction.
    ///   - isCovered: As ``EnginePartners/covers(_:for:)``.
    ///   - coverage: As ``EnginePartners/coverageVersion``.
    func land(
        _ arrivals: Arrivals, completing placed: InPlace, started: [SyncRecordID],
        isCovered: (Item, DownloadTrigger) throws -> Bool? = { _, _ in true }, coverage: () -> Int? = { nil }
    ) throws -> LandingOutcome {
        var outcome = LandingOutcome()
        do {
            try tree.syncData()
            let (landable, batched, journalled) = try database.writeBlocking { tx in
                try landing(arrivals, completing: placed, started: started, isCovered, coverage: coverage, in: tx)
            }
            outcome = journalled
            var refused: [(Job, PlaceProblem)] = []
            for landable in landable { put(landable, &outcome.placed, &refused) }
            try put(batched, &outcome, &refused)
            guard !refused.isEmpty else { return outcome }
            outcome.outcomes += try database.writeBlocking { tx in
                try refused.map { try resolve($0.0, $0.1, in: tx) }
            }
        } catch let failure as Failure where failure.kind == .localIO {
            outcome.failure = failure
        }
        return outcome
    }

    private func landing(
        _ arrivals: Arrivals, completing placed: InPlace, started: [SyncRecordID],
        _ isCovered: (Item, DownloadTrigger) throws -> Bool?, coverage: () -> Int?, in tx: Transaction
    ) throws -> (landable: [Landable], batched: [BatchArrival], outcome: LandingOutcome) {
        var outcome = LandingOutcome()
        try tx.journal.markProcessing(started)
        for file in placed.files where try !complete(file, isCovered, in: tx) { outcome.hasUncovered = true }
        if try !complete(placed.batched, isCovered, coverage: coverage, in: tx) { outcome.hasUncovered = true }
        let (batched, others) = try journal(arrivals.batched, in: tx)
        let (alone, gone) = try self.alone(others, in: tx)
        let (landable, outcomes) = try journal(arrivals.files + alone, in: tx)
        outcome.completed = placed.batched.map(\.arrival.record)
        outcome.outcomes =
            (placed.files.map(\.job.id) + gone).map { RecordOutcome(record: $0, resolution: .ended) } + outcomes
        return (landable, batched, outcome)
    }

    /// Puts downloads of batches in place: folder by folder, so that each folder is opened once. One that does not simply
    /// find its place is put there as one that came alone.
    private func put(
        _ arrivals: [BatchArrival], _ outcome: inout LandingOutcome, _ refused: inout [(Job, PlaceProblem)]
    ) throws {
        guard !arrivals.isEmpty else { return }
        let folders = TreeBatch(tree)
        var others: [BatchArrival] = []
        var placing: [(arrival: BatchArrival, path: ItemPath)] = []
        for arrival in arrivals { placing.append((arrival, arrival.path)) }
        placing.sort { $0.path < $1.path }
        for (arrival, path) in placing {
            if let mark = folders.place(arrival.incomingName, at: path, mark: arrival.result.mark) {
                outcome.batched.append(BatchPlaced(arrival: arrival, mark: mark))
            } else {
                others.append(arrival)
            }
        }
        guard !others.isEmpty else { return }
        let (alone, gone) = try database.writeBlocking { [others] tx in try self.alone(others, in: tx) }
        outcome.outcomes += gone.map { RecordOutcome(record: $0, resolution: .ended) }
        // The path as it was journalled: an item that has moved since takes its file along from there.
        let paths = Dictionary(uniqueKeysWithValues: others.map { ($0.record, $0.path) })
        for fetched in alone {
            let path = paths[fetched.job.id] ?? fetched.job.path
            put(Landable(fetched: fetched, path: path, known: nil), &outcome.placed, &refused)
        }
    }

    /// Records in the item that its copy is here, and removes the sync record.
    /// - Returns: False if the download was only wanted by policies, and they may have changed so that none covers the
    ///   item any more.
    func complete(
        _ file: Placed, _ isCovered: (Item, DownloadTrigger) throws -> Bool?, in tx: Transaction
    ) throws -> Bool {
        let record = file.job.record
        let (reason, whileCovered) = try tx.journal.take(id: record.id) ?? (record.reason, record.whileCovered)
        guard var item = try tx.items.item(localID: record.localID) else { return true }
        // The item as it was when the download was wanted: what a policy's condition says of a copy that is here may
        // differ.
        let isWanted = try whileCovered ? isCovered(item, reason) == true : true
        item.copy = LocalCopy(
            etag: file.landing.etag, digest: file.landing.digest, mark: tree.renewed(file.mark, at: file.path))
        // A copy that the host fetched again on its own account was not used by anybody, and keeps its trigger.
        if item.cloudStatus != .localCopy || !fetchesAgain(record) {
            item.lastUsed = clock.now()
            item.take(reason)
        }
        item.cloudStatus = .localCopy
        item.syncActivity.remove(.downloading)
        try tx.items.updateDownloaded(item)
        counters.change { $0.filesDone += 1 }
        logger.debug("Downloaded \(file.path)")
        return isWanted
    }

    private struct Landable {
        var fetched: Fetched
        /// The path for the file. The item may have moved since the download began.
        var path: ItemPath
        /// The copy that the file may replace.
        var known: LocalCopy?
    }

    /// Journals the files that are about to be put in place. Drops a file that is no longer wanted, or not in this
    /// version, or that was written before the disk failed.
    private func journal(
        _ batch: [Fetched], in tx: Transaction
    ) throws -> (landable: [Landable], outcomes: [RecordOutcome]) {
        var landable: [Landable] = []
        var outcomes: [RecordOutcome] = []
        let mayBeHeld = try tx.mayHoldPlaces()
        for fetched in batch {
            let id = fetched.job.id
            guard var journal = try tx.journal.record(id: id) else {
                tree.abandonIncoming(fetched.file.name)
                outcomes.append(RecordOutcome(record: id, resolution: .ended))
                continue
            }
            guard var item = try tx.items.item(localID: journal.localID), !item.isRemoved,
                Job(journal, item: item).version == fetched.job.version, tree.isBelieved(fetched.file)
            else {
                tree.abandonIncoming(fetched.file.name)
                journal.state = .ready
                journal.landing = nil
                try tx.journal.update(journal)
                outcomes.append(RecordOutcome(record: id, resolution: .stale))
                continue
            }
            if let claim = try context.copies.claimForWriting(of: item, in: tx) {
                context.notTaken.withLock { $0[id] = fetched.landing }
                outcomes.append(try resolve(fetched.job, .claimed(claim), in: tx))
                continue
            }
            if mayBeHeld {
                if let place = try context.places.held(of: item, in: tx) {
                    try context.places.wait(journal, for: place, in: tx)
                    context.notTaken.withLock { $0[id] = fetched.landing }
                    outcomes.append(RecordOutcome(record: id, resolution: .stale, failure: place.failure))
                    continue
                }
                item = try context.places.takeOver(of: item, in: tx)
            }
            try tx.journal.setLanding(fetched.landing, of: id)
            landable.append(
                Landable(fetched: fetched, path: item.path, known: journal.overwritable(item) ?? item.copy))
        }
        return (landable, outcomes)
    }

    private func put(
        _ landable: Landable, _ placed: inout [Placed], _ refused: inout [(Job, PlaceProblem)]
    ) {
        let path = landable.path
        var job = landable.fetched.job
        job.record.landing = landable.fetched.landing
        if let mark = markOfEqual(landable) {
            tree.abandonIncoming(landable.fetched.file.name)
            placed.append(Placed(job: job, path: path, landing: landable.fetched.landing, mark: mark))
            return
        }
        do {
            switch try tree.place(landable.fetched.file, at: path, replacing: landable.known) {
            case .placed(let mark), .alreadyThere(let mark):
                placed.append(Placed(job: job, path: path, landing: landable.fetched.landing, mark: mark))
            case .modified: refused.append((job, .modified))
            case .inUse: refused.append((job, .inUse))
            case .obstructed(let obstruction): refused.append((job, .obstructed(obstruction)))
            }
        } catch {
            refused.append((job, .disk(error)))
        }
    }

    /// Returns the mark of the file in place if it has the content and the time of the downloaded one. It stays then, so
    /// that programs which have it open keep it.
    private func markOfEqual(_ landable: Landable) -> FileMark? {
        let file = landable.fetched.file
        guard let known = landable.known, known.digest == file.digest,
            let mark = tree.mark(at: landable.path, ifDigest: file.digest), mark.modified == file.mark.modified
        else { return nil }
        return mark
    }
}

extension SyncRecord {
    /// The changed file, identified by its mark, that a person has agreed to lose.
    fileprivate func overwritable(_ item: Item) -> LocalCopy? {
        overwrites.map { LocalCopy(etag: item.etag ?? .substitute(size: nil, lastModified: nil), digest: [], mark: $0) }
    }
}

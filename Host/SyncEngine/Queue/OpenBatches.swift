import Model

/// The small downloads that are handled in batches beside the window: those that are read, requested, arriving, and being
/// put in place. A value without I/O.
///
/// What is ordinary is decided where the journal is read, by the guards of each statement, and by each answer. Whatever
/// turns out not to be ordinary leaves its batch, and goes on in the window or is read again.
struct OpenBatches {
    /// The batches that were read and not handed out.
    private var ready: [DownloadBatch] = []
    /// All downloads of the batches, and their items' rows.
    private var taken: [SyncRecordID: ItemRowID] = [:]
    private var items: Set<ItemRowID> = []
    /// The batches of which downloads may be left.
    private var batches: [DownloadBatch] = []
    /// The downloads whose answers must be judged before any other file is requested.
    private var judged: Set<SyncRecordID> = []
    /// The downloads that have not arrived.
    private var missing: Set<SyncRecordID> = []
    /// Whether something waits in the window until downloads of batches have ended.
    private(set) var holdsUp = false
    /// Whether downloads were left out of a batch until something about the same items or paths has ended.
    private(set) var hasLeftOut = false

    /// The number of downloads that were handed out and have not arrived below which the next batch is handed out. Files
    /// that take long do not hold up the others.
    static let few = 256

    /// Whether every download that was handed out has left its batch.
    var isIdle: Bool { startedCount == 0 }
    /// The number of downloads that were handed out and have not left their batches.
    var startedCount: Int { taken.count - readyCount }
    /// The number of downloads that have not arrived.
    var missingCount: Int { missing.count }
    /// The number of downloads that were handed out and have not arrived.
    var underWayCount: Int { missing.count - readyCount }
    var readyCount: Int { ready.reduce(0) { $0 + $1.count } }

    func contains(_ record: SyncRecordID) -> Bool { taken[record] != nil }

    /// Returns of a batch that was read what may be added: no record that is here or in the window, and none about
    /// something that another one is about, whose record may be gone from the journal already.
    mutating func part(
        of batch: DownloadBatch, beside window: Window, without ended: Set<SyncRecordID>
    ) -> DownloadBatch? {
        var leavesOut = false
        let part = batch.only { file, entry in
            if ended.contains(entry.record) || contains(entry.record) || window.contains(entry.record) { return false }
            guard items.contains(entry.item) || window.holdsUp(entry.localID, at: batch.path(of: file)) else {
                return true
            }
            leavesOut = true
            return false
        }
        hasLeftOut = hasLeftOut || leavesOut
        return part
    }

    /// Adds a batch that was read.
    mutating func add(_ batch: DownloadBatch) {
        batches.removeAll { batch in !batch.entries.contains { taken[$0.record] != nil } }
        ready.append(batch)
        batches.append(batch)
        for entry in batch.entries {
            taken[entry.record] = entry.item
            items.insert(entry.item)
            missing.insert(entry.record)
        }
    }

    /// Hands out the next batch, if one may be requested now.
    mutating func next() -> DownloadBatch? {
        guard underWayCount < Self.few, judged.isEmpty, !ready.isEmpty else { return nil }
        return ready.removeFirst()
    }

    /// Notes that a download has arrived.
    mutating func arrived(_ record: SyncRecordID) { missing.remove(record) }

    /// Notes that a download's answer, which may be that of all others too, is judged elsewhere. No batch is handed out
    /// before the download has left its batch with the outcome.
    mutating func judges(_ record: SyncRecordID) { judged.insert(record) }

    /// Removes a download from its batch.
    /// - Returns: Whether it was there.
    @discardableResult
    mutating func remove(_ record: SyncRecordID) -> Bool {
        guard let item = taken.removeValue(forKey: record) else { return false }
        items.remove(item)
        missing.remove(record)
        judged.remove(record)
        if taken.isEmpty { batches = [] }
        return true
    }

    /// Removes all downloads that were not handed out.
    mutating func forgetReady() {
        let forgotten = ready
        ready = []
        for batch in forgotten { for entry in batch.entries { remove(entry.record) } }
    }

    /// The paths of all downloads, and of all folders above them. The cost grows with the number of downloads, so that it
    /// is computed once for a page of the journal.
    var occupiedPaths: Set<ItemPath> {
        var paths: Set<ItemPath> = []
        for batch in batches {
            for (index, entry) in batch.entries.enumerated() where taken[entry.record] != nil {
                var path = batch.path(of: index)
                while paths.insert(path).inserted, !path.isRoot { path = path.parent }
            }
        }
        return paths
    }

    /// Tells whether a record of the window must wait for a download of a batch: it concerns the same item, or changes
    /// the server at the download's path or above it.
    /// - Parameter occupied: As ``occupiedPaths``.
    mutating func holdsUp(_ job: Job, occupied: Set<ItemPath>) -> Bool {
        guard !taken.isEmpty else { return false }
        let changesPath =
            job.record.action.kind.changesServer
            && (occupied.contains(job.path) || job.record.action.otherPath.map { occupied.contains($0) } ?? false)
        guard changesPath || items.contains(job.item) else { return false }
        holdsUp = true
        return true
    }

    /// Notes that what waits is read again.
    mutating func readsAgain() { (holdsUp, hasLeftOut) = (false, false) }
}

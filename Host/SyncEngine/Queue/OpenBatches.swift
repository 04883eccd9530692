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

    /// Tells whether a record of the window must wait for a download of a batch: it concerns the same item, or changes
    /// the server at the download's path, above or below it.
    mutating func holdsUp(_ job: Job) -> Bool {
        guard !taken.isEmpty else { return false }
        var isHeld = items.contains(job.item)
        if !isHeld, job.record.action.kind.changesServer {
            let paths = [job.path] + (job.record.action.otherPath.map { [$0] } ?? [])
            isHeld = batches.contains { batch in
                batch.entries.indices.contains { index in
                    guard taken[batch.entries[index].record] != nil else { return false }
                    let path = batch.path(of: index)
                    return paths.contains { $0 == path || $0.isAncestor(of: path) || path.isAncestor(of: $0) }
                }
            }
        }
        if isHeld { holdsUp = true }
        return isHeld
    }

    /// Notes that what waits is read again.
    mutating func readsAgain() { holdsUp = false }
}

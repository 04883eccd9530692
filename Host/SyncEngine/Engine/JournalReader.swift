import Database
import LocalTree
import Logging
import Model

/// Reads the journal for a run of the engine.
struct JournalReader: EnginePart {
    let context: ActionContext
    /// The records to read.
    let only: RecordSelection
    let partners: any EnginePartners

    /// The number of records of one budget that are read at a time: one read takes in what a plugin's run requests in
    /// one transaction. Waiting records do not count, because they would hide the records behind them.
    static let pageSize = 1024
    /// The time after which the engine checks again whether there is room for records that were held.
    private static let roomDelay = Duration.seconds(1)

    /// Reads the journal from a position.
    ///
    /// The read is a write transaction for two reasons. It comes after the end of every transaction that suspended a
    /// record. And it removes what is out of date: records of items that are gone, and waits that are over.
    ///
    /// Removals are read past any number of downloads. They need no server, and may make the room that downloads lack.
    /// - Parameters:
    ///   - request: The position to read from.
    ///   - started: The records that were started since the last read. They are marked as started.
    func read(_ request: JournalRequest, started: [SyncRecordID]) async throws -> JournalPage {
        let page = try await database.write { [self] tx in
            let now = waitTime()
            try tx.journal.markProcessing(started)
            if request.after == .none {
                controls.with { $0.suspended.removeAll() }
                _ = try tx.journal.endFulfilledWaits(now: now, longest: SyncEngine.longestWait)
            }
            // Where waits have ended, or a person has answered, there may be more records than there is room for. That
            // may have been while a processor's run was asking for what there was room for.
            for (reason, most) in partners.maximums {
                try tx.journal.hold(of: reason, beyond: most, until: now + Self.roomDelay)
            }
            let isWhole = if case .all = only { true } else { false }
            var page = JournalPage(last: request.after, isLast: false, isCovered: partners.covers)
            (page.room, page.lack) = (context.gauge.measure(), request.lack)
            var found: [SyncRecord] = []
            var counts: [Window.Budget: Int] = [:]
            func take(_ record: SyncRecord) -> Bool {
                guard only.contains(record.id) else { return true }
                // A record that waits for its place must not block the removal that frees the place.
                if case .place = record.wait { return true }
                found.append(record)
                if record.wait == nil { counts[record.action.kind.budget, default: 0] += 1 }
                return counts.values.allSatisfy { $0 < Self.pageSize }
            }
            page.mayBeHeld = try tx.mayHoldPlaces()
            if request.readsOn {
                page.isLast = true
                if var rows = try ordinaryDownloads(request, on: &page, in: tx) {
                    try tx.journal.eachRow(after: request.after) { row in
                        page.last = row.id
                        let isBatched = try only.contains(row.id) && rows.take(row, on: &page)
                        page.isLast = try isBatched ? rows.count < Self.pageSize : take(row.record())
                        return page.isLast
                    }
                    page.batch = rows.batch
                } else {
                    try tx.journal.each(after: request.after) { record in
                        page.last = record.id
                        page.isLast = take(record)
                        return page.isLast
                    }
                }
            }
            for record in found {
                if let job = try currentJob(record, on: &page, in: tx) { page.jobs.append(job) }
            }
            if page.isLast { try context.gauge.tell(page.lack, isWhole: isWhole, in: tx) }
            if request.after == .none, page.isLast, isWhole,
                page.batch == nil, !page.jobs.contains(where: { $0.record.action.isTransfer }),
                try tx.journal.pendingTransfers().files == 0
            {
                // What left the journal in any other way than by being done is not to come any more.
                counters.endTotals()
            }
            page.lastRemoval = max(page.last, request.removalsAfter)
            if !page.isLast {
                (found, counts) = ([], [:])
                try tx.journal.eachRemoval(after: page.lastRemoval) { record in
                    page.lastRemoval = record.id
                    page.isLastRemoval = take(record)
                    return page.isLastRemoval
                }
                for record in found {
                    if let job = try removalAhead(record, on: &page, in: tx) { page.jobs.append(job) }
                }
            }
            page.earliestWait =
                (page.jobs.compactMap(\.waitsUntil) + [try tx.journal.earliestWait()].compactMap(\.self)).min()
            return page
        }
        tell(page.dropped)
        return page
    }

    /// Returns what gathers the ordinary downloads of a page; nil if none is ordinary now: moves are to be made, or many
    /// changes on the server.
    private func ordinaryDownloads(
        _ request: JournalRequest, on page: inout JournalPage, in tx: Transaction
    ) throws -> OrdinaryDownloads? {
        guard request.takesBatch, try tx.moves.isEmpty,
            let changes = try tx.journal.changedPaths(limit: OrdinaryDownloads.mostChanges),
            try page.readMoves(in: tx).isEmpty
        else { return nil }
        let isHeld: ((ItemPath) throws -> Bool)? =
            try tx.items.hasRemovedCopies() ? { try tx.items.isBesideRemovedCopy($0) } : nil
        return OrdinaryDownloads(context, changes, isHeld, partners)
    }

    /// Logs one line for all dropped actions of one plugin, and reports each action to the callback.
    private func tell(_ dropped: [DroppedAction]) {
        for (reason, dropped) in Dictionary(grouping: dropped, by: \.reason) {
            guard let first = dropped.first else { continue }
            let others = dropped.count == 1 ? "" : ", and \(dropped.count - 1) more actions"
            let action = first.action.kind.rawValue
            logger.info("The action \(action) of \(first.path) for \(reason) was dropped: \(first.why)\(others)")
        }
        for one in dropped { context.copies.note(one) }
    }

    /// Returns the job of a removal that may overtake the records before it. It must concern a file, and must be the
    /// first record of that file.
    private func removalAhead(_ found: SyncRecord, on page: inout JournalPage, in tx: Transaction) throws -> Job? {
        guard let item = try tx.items.item(localID: found.localID), item.kind == .file,
            try tx.journal.records(of: item.localID).first?.id == found.id
        else { return nil }
        return try currentJob(found, on: &page, in: tx)
    }

    /// Returns the item of a record; nil if it is gone. What is to be made, and whose item is gone, since a folder was
    /// moved over it, goes on with what is at its path: what is to be uploaded may be nowhere else.
    private func itemOrNewPlaceholder(of record: inout SyncRecord, in tx: Transaction) throws -> Item? {
        if let item = try tx.items.item(localID: record.localID) { return item }
        switch record.action {
        case .upload(let upload): return try UploadAction(context).adoptItem(for: &record, of: upload, in: tx)
        case .createFolder:
            let item =
                try tx.items.item(at: record.path)
                ?? tx.items.insertPlaceholder(record.path, kind: .folder, activity: CreateFolderAction.activity)
            record.localID = item.localID
            try tx.journal.replace(record)
            return item
        case .copy:
            // The server refuses the copy, and a person is asked.
            guard let item = try tx.items.item(at: record.path) else { return nil }
            record.localID = item.localID
            try tx.journal.replace(record)
            return item
        case .download, .removeLocalCopy, .purge, .delete, .move, .setFavorite, .setModificationTime: return nil
        }
    }

    /// Returns the record's job as it is now, or nil if there is no job any more, or the record waits without blocking
    /// its lane.
    private func currentJob(_ found: SyncRecord, on page: inout JournalPage, in tx: Transaction) throws -> Job? {
        var record = found
        guard let item = try itemOrNewPlaceholder(of: &record, in: tx) else {
            try tx.journal.delete(id: record.id)
            context.records.forget(record.id)
            return nil
        }
        if record.path != item.path, !record.action.kind.changesServer {
            record.path = item.path
            try tx.journal.update(record)
        }
        guard let current = try context.action(record.action.kind).schedule(record, of: item, on: &page, in: tx) else {
            return nil
        }
        guard current.holdsLane else { return nil }
        var job = Job(current, item: item)
        if !record.action.kind.changesServer {
            job.serverPath = try page.serverPath(of: item, before: record.id, in: tx)
        }
        return job
    }
}

extension SyncRecord.Action {
    /// Whether the action is counted as a transfer of a file.
    fileprivate var isTransfer: Bool { kind == .download || kind == .upload }
}

extension Job {
    fileprivate var waitsUntil: Timestamp? { if case .until(let time) = record.wait { time } else { nil } }
}

extension DroppedAction {
    init(_ record: SyncRecord, _ why: String) {
        self.init(path: record.path, action: record.action, reason: record.reason, why: why)
    }
}

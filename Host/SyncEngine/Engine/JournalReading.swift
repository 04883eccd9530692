import Model
import Storage

/// A part of the journal, read in its order.
struct JournalPage: Sendable {
    var jobs: [Job] = []
    /// The last record that was read.
    var last: Int64 = 0
    /// Whether there is none behind it.
    var isLast = true
    /// The last removal that was read.
    var lastRemoval: Int64 = 0
    /// Whether there is no removal behind it.
    var isLastRemoval = true
    /// When a waiting record may go on.
    var earliestWait: Timestamp?
}

extension SyncEngine {
    /// How many records of one budget are read at a time: what a plugin's run asks for in one transaction is read in one. Waiting
    /// ones do not count: they would hide what comes after them.
    static let pageSize = 1024

    /// Reads on in the journal.
    ///
    /// It is a write transaction, so that it comes after the end of every transaction that suspended a record, and because what
    /// is out of date goes on the way: records of items that are gone, waits that are over.
    ///
    /// Removals are read past any number of downloads: they need no server, and may make the room that downloads lack.
    /// - Parameters:
    ///   - cursor: The last record that was read; 0 reads from the beginning.
    ///   - removal: The last removal that was read.
    ///   - readsOn: Whether more than removals is read.
    ///   - started: Records that were started since; they are marked as such.
    ///   - only: The records that are meant; nil: all.
    func readJournal(
        after cursor: Int64, removalsAfter removal: Int64, readsOn: Bool, started: [Int64], only: Set<Int64>? = nil
    ) async throws -> JournalPage {
        try await database.write { [self] tx in
            let now = clock.now()
            try tx.markProcessing(started)
            if cursor == 0 {
                controls.with { $0.suspended.removeAll() }
                _ = try tx.endFulfilledWaits(now: now)
            }
            var page = JournalPage(last: cursor, isLast: false)
            var found: [JournalRecord] = []
            var counts: [Window.Budget: Int] = [:]
            func take(_ record: JournalRecord) -> Bool {
                guard only?.contains(record.id) ?? true else { return true }
                found.append(record)
                if record.record.wait == nil { counts[record.record.action.budget, default: 0] += 1 }
                return counts.values.allSatisfy { $0 < Self.pageSize }
            }
            if readsOn {
                page.isLast = true
                try tx.eachSyncRecord(after: cursor) { record in
                    page.last = record.id
                    page.isLast = take(record)
                    return page.isLast
                }
            }
            for record in found {
                if let job = try currentJob(record, in: tx) { page.jobs.append(job) }
            }
            page.lastRemoval = max(page.last, removal)
            if !page.isLast {
                (found, counts) = ([], [:])
                try tx.eachRemovalRecord(after: page.lastRemoval) { record in
                    page.lastRemoval = record.id
                    page.isLastRemoval = take(record)
                    return page.isLastRemoval
                }
                for record in found {
                    if let job = try removalAhead(record, in: tx) { page.jobs.append(job) }
                }
            }
            page.earliestWait = try tx.earliestWait()
            return page
        }
    }

    /// A removal that may overtake what stands before it in the journal: of a file, and with nothing else about the file before it.
    private func removalAhead(_ found: JournalRecord, in tx: Transaction) throws -> Job? {
        guard let item = try tx.item(localID: found.record.localID), item.kind == .file,
            try tx.syncRecords(of: item.localID).first?.id == found.id
        else { return nil }
        return try currentJob(found, in: tx)
    }

    /// The record's work as it stands now; nil if there is none any more, and then the record is gone.
    private func currentJob(_ found: JournalRecord, in tx: Transaction) throws -> Job? {
        var journal = found
        guard var item = try tx.item(localID: journal.record.localID) else {
            try tx.deleteSyncRecord(id: journal.id)
            return nil
        }
        // What is landing is settled when it has landed.
        if journal.record.action == .download, journal.landing == nil {
            let isHere = item.cloudStatus == .localCopy && item.remoteVersion == .current
            let isWanted = try !journal.whileCovered || callbacks.isCovered(item, journal.record.reason)
            if item.isRemoved || isHere {
                try deschedule(journal, in: tx)
                return nil
            }
            if !isWanted {
                guard let others = try letGo(journal, of: &item, in: tx) else { return nil }
                journal = others
            }
        }
        guard journal.record.path != item.path else { return Job(journal, item: item) }
        var moved = journal
        moved.record.path = item.path
        try tx.update(moved)
        return Job(moved, item: item)
    }
}

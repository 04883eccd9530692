import Model
import Storage

/// A part of the journal, read in its order.
struct JournalPage: Sendable {
    var jobs: [Job] = []
    /// The last record that was read.
    var last: Int64 = 0
    /// Whether there is none behind it.
    var isLast = true
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
    /// - Parameters:
    ///   - cursor: The last record that was read; 0 reads from the beginning.
    ///   - started: Records that were started since; they are marked as such.
    ///   - only: The records that are meant; nil: all.
    func readJournal(after cursor: Int64, started: [Int64], only: Set<Int64>? = nil) async throws -> JournalPage {
        try await database.write { [self] tx in
            let now = clock.now()
            try tx.markProcessing(started)
            if cursor == 0 {
                controls.with { $0.suspended.removeAll() }
                _ = try tx.endFulfilledWaits(now: now)
            }
            var page = JournalPage(last: cursor)
            var found: [JournalRecord] = []
            var counts: [Window.Budget: Int] = [:]
            try tx.eachSyncRecord(after: cursor) { record in
                page.last = record.id
                guard only?.contains(record.id) ?? true else { return true }
                found.append(record)
                if record.record.wait == nil { counts[record.record.action.budget, default: 0] += 1 }
                page.isLast = counts.values.allSatisfy { $0 < Self.pageSize }
                return page.isLast
            }
            for record in found {
                if let job = try currentJob(record, in: tx) { page.jobs.append(job) }
            }
            page.earliestWait = try tx.earliestWait()
            return page
        }
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

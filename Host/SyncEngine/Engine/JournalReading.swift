import Database
import LocalTree
import Logging
import Model
import Synchronization

/// A part of the journal, read in its order.
struct JournalPage: Sendable {
    var jobs: [Job] = []
    /// The last record that was read.
    var last = SyncRecordID.none
    /// Whether there is none behind it.
    var isLast = true
    /// The last removal that was read.
    var lastRemoval = SyncRecordID.none
    /// Whether there is no removal behind it.
    var isLastRemoval = true
    /// When a waiting record may go on.
    var earliestWait: Timestamp?
    /// What was found to be wanted no more, and is gone.
    var dropped: [DroppedAction] = []
    /// Whether copies of removed items are here, which may lie in the place of others.
    var mayBeHeld = false
    /// As ``SyncEngine/Partners/isCovered``.
    var isCovered: @Sendable (Item, DownloadTrigger) throws -> Bool? = { _, _ in true }
}

/// Where to read on in the journal.
struct JournalRequest: Hashable, Sendable {
    /// The last record that was read; 0: from the beginning.
    var after: SyncRecordID
    /// The last removal that was read.
    var removalsAfter: SyncRecordID
    /// Whether more than removals is read.
    var readsOn: Bool
}

extension SyncEngine {
    /// How many records of one budget are read at a time: what a plugin's run asks for in one transaction is read in one. Waiting
    /// ones do not count: they would hide what comes after them.
    static let pageSize = 1024
    /// After which time it is seen again if there is room for what was held.
    private static let roomDelay = Duration.seconds(1)

    /// Reads on in the journal.
    ///
    /// It is a write transaction, so that it comes after the end of every transaction that suspended a record, and because what
    /// is out of date goes on the way: records of items that are gone, waits that are over.
    ///
    /// Removals are read past any number of downloads: they need no server, and may make the room that downloads lack.
    /// - Parameters:
    ///   - request: Where.
    ///   - started: Records that were started since; they are marked as such.
    ///   - only: The records that are meant; nil: all.
    func readJournal(
        _ request: JournalRequest, started: [SyncRecordID], only: Set<SyncRecordID>? = nil, with partners: Partners
    ) async throws -> JournalPage {
        let page = try await database.write { [self] tx in
            let now = waitTime()
            try tx.journal.markProcessing(started)
            if request.after == .none {
                controls.with { $0.suspended.removeAll() }
                _ = try tx.journal.endFulfilledWaits(now: now, longest: Self.longestWait)
                // Where waits have ended, or a person has answered, there may be more than there is room for.
                for (reason, most) in partners.maximums() {
                    try tx.journal.hold(of: reason, beyond: most, until: now + Self.roomDelay)
                }
            }
            var page = JournalPage(last: request.after, isLast: false, isCovered: partners.isCovered)
            var found: [SyncRecord] = []
            var counts: [Window.Budget: Int] = [:]
            func take(_ record: SyncRecord) -> Bool {
                guard only?.contains(record.id) ?? true else { return true }
                // What waits for its place is out of the way of what is to leave it.
                if case .place = record.wait { return true }
                found.append(record)
                if record.wait == nil { counts[record.action.kind.type.budget, default: 0] += 1 }
                return counts.values.allSatisfy { $0 < Self.pageSize }
            }
            if request.readsOn {
                page.isLast = true
                try tx.journal.each(after: request.after) { record in
                    page.last = record.id
                    page.isLast = take(record)
                    return page.isLast
                }
            }
            page.mayBeHeld = try !found.isEmpty && tx.items.hasRemovedCopies()
            for record in found {
                if let job = try currentJob(record, on: &page, in: tx) { page.jobs.append(job) }
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

    /// One line for all that one plugin asked for, and what each was for whoever follows it.
    private func tell(_ dropped: [DroppedAction]) {
        for (reason, dropped) in Dictionary(grouping: dropped, by: \.reason) {
            guard let first = dropped.first else { continue }
            let others = dropped.count == 1 ? "" : ", and \(dropped.count - 1) others with it"
            logger.info("\(first.action.kind.rawValue) of \(first.path) for \(reason) dropped: \(first.why)\(others)")
        }
        for one in dropped { note(one) }
    }

    /// A removal that may overtake what stands before it in the journal: of a file, and with nothing else about the file before it.
    private func removalAhead(_ found: SyncRecord, on page: inout JournalPage, in tx: Transaction) throws -> Job? {
        guard let item = try tx.items.item(localID: found.localID), item.kind == .file,
            try tx.journal.records(of: item.localID).first?.id == found.id
        else { return nil }
        return try currentJob(found, on: &page, in: tx)
    }

    /// The record's work as it stands now; nil if there is none any more, or it waits out of the way.
    private func currentJob(_ found: SyncRecord, on page: inout JournalPage, in tx: Transaction) throws -> Job? {
        var record = found
        guard let item = try tx.items.item(localID: record.localID) else {
            try tx.journal.delete(id: record.id)
            return nil
        }
        if record.path != item.path {
            record.path = item.path
            try tx.journal.update(record)
        }
        guard let current = try action(record.action.kind).schedule(record, of: item, on: &page, in: tx) else {
            return nil
        }
        return current.holdsLane ? Job(current, item: item) : nil
    }
}

extension Job {
    fileprivate var waitsUntil: Timestamp? { if case .until(let time) = record.wait { time } else { nil } }
}

extension DroppedAction {
    init(_ record: SyncRecord, _ why: String) {
        self.init(path: record.path, action: record.action, reason: record.reason, why: why)
    }
}

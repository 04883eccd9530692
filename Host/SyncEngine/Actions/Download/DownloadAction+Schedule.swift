import Database
import LocalTree
import Model
import Synchronization

extension DownloadAction {
    func schedule(
        _ found: SyncRecord, of item: Item, on page: inout JournalPage, in tx: Transaction
    ) throws -> SyncRecord? {
        // A download that is being put in place is resolved when it is in place.
        guard found.landing == nil else { return found }
        var (record, item) = (found, item)
        let isHere =
            try fetchesAgain(record)
            ? item.cloudStatus != .localCopy || !tx.items.isCopyDistrusted(databaseID: item.databaseID)
            : item.cloudStatus == .localCopy && item.remoteVersion == .current
        let isCovered = try record.whileCovered ? page.isCovered(item, record.reason) : true
        if item.isRemoved || isHere {
            try context.records.deschedule(record, in: tx)
            return nil
        }
        if let claimed = try claim(against: record, of: item, in: tx) {
            guard claimed.waits else {
                page.dropped.append(DroppedAction(record, claimed.failure.message))
                try context.records.deschedule(record, in: tx)
                return nil
            }
            hold(&record, because: claimed.failure)
        }
        if isCovered == nil {
            let why = "\(item.path) waits until \(record.reason) has said which items it covers"
            hold(&record, because: Failure(.failed, why))
        } else if isCovered == false {
            page.dropped.append(DroppedAction(record, "neither a policy nor the plugin itself covers it"))
            guard let others = try context.records.letGo(record, of: &item, in: tx) else { return nil }
            record = others
        }
        guard record.wait == nil else { return record }
        if try tx.items.isCopied(item) {
            let why = "\(item.path) waits until the server has been asked what it has copied"
            try context.places.wait(record, for: HeldPlace(wait: .place, failure: Failure(.failed, why)), in: tx)
            return nil
        }
        if page.mayBeHeld, let place = try context.places.held(of: item, in: tx) {
            try context.places.wait(record, for: place, in: tx)
            return nil
        }
        if item.kind == .folder {
            try tx.journal.delete(id: record.id)
            _ = try keepFolder(item, for: record.reason, in: tx)
            return nil
        }
        // A download that waits for room is not kept in memory, and does not block the removals that make room.
        return takeRoom(for: Job(record, item: item), on: &page) ? record : nil
    }

    /// Lets a record wait for a while. The wait is not written down: each write would cause the journal to be read
    /// again.
    private func hold(_ record: inout SyncRecord, because failure: Failure) {
        guard record.wait == nil else { return }
        record.wait = .until(context.waitTime() + SyncEngine.inUseDelay)
        context.reasons.withLock { [id = record.id] in $0[id] = failure }
    }

    /// Takes back the item's mark and the bytes fetched so far.
    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        var item = found
        item.syncActivity.remove(.downloading)
        // If another requester joined the download, that requester's wish ends with the download.
        if item.cloudStatus == .cloudOnly { item.formerTrigger = nil }
        if item != found {
            try tx.items.updateLocal(item)
            counters.expect(files: -1, bytes: -(item.size ?? 0))
        }
        abandonIncoming(Job(record, item: item))
    }

    static func keyOfFetchingAgain(_ id: LocalID) -> String { "fetchAgain:\(id.text)" }

    /// Tells whether only the host itself wants this download.
    func fetchesAgain(_ record: SyncRecord) -> Bool { record.key == Self.keyOfFetchingAgain(record.localID) }
}

import Database
import LocalTree
import Model
import Synchronization

extension SyncEngine {
    /// Takes a record out of the journal and takes back what its preflight did: the item's marks and the bytes fetched
    /// so far. Ends a request that is under way for the record.
    func deschedule(_ record: SyncRecord, in tx: Transaction) throws {
        try remove(record, in: tx)
        guard let item = try tx.items.item(localID: record.localID) else { return }
        try action(record.action.kind).takeBack(record, of: item, in: tx)
    }

    /// Takes a record out of the journal, and ends a request that is under way for it. What it has shown of its item
    /// stays.
    func remove(_ record: SyncRecord, in tx: Transaction) throws {
        controls.suspend(record.id, cancels: true)
        try tx.journal.delete(id: record.id)
        followed.noteTakenBack(record.id)
        forget(record.id)
        // Listings left out what the record was about to change.
        for place in record.places { try tx.scan.requestListing(of: place.path.parent) }
        if record.action.kind.changesServer { tx.noteFoldersLeft() }
    }

    /// Forgets what is kept of a record besides the journal.
    func forget(_ record: SyncRecordID) {
        reasons.withLock { $0[record] = nil }
        notTaken.withLock { $0[record] = nil }
    }

    /// Ends a download for its requester. If another requester joined the download, the download goes on for that
    /// requester.
    /// - Returns: The record that goes on, or nil if no record goes on.
    func letGo(_ download: SyncRecord, of item: inout Item, in tx: Transaction) throws -> SyncRecord? {
        guard item.cloudStatus == .cloudOnly, let former = item.formerTrigger else {
            try deschedule(download, in: tx)
            item = try tx.items.item(localID: item.localID) ?? item
            return nil
        }
        var record = download
        record.reason = former
        record.key = nil
        record.whileCovered = false
        try tx.journal.update(record)
        controls.suspend(record.id, cancels: false)
        item.formerTrigger = nil
        item = try tx.items.updateLocal(item)
        return record
    }
}

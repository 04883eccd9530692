import Database
import LocalTree
import Model

extension SyncEngine {
    /// Takes a record out of the journal and takes back what its preflight did: the item's marks and the bytes fetched
    /// so far. Ends a request that is under way for the record.
    func deschedule(_ record: SyncRecord, in tx: Transaction) throws {
        controls.suspend(record.id, cancels: true)
        try tx.journal.delete(id: record.id)
        guard let item = try tx.items.item(localID: record.localID) else { return }
        try action(record.action.kind).takeBack(record, of: item, in: tx)
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

import Database
import LocalTree
import Model

extension SyncEngine {
    /// Takes a record out of the journal and takes back what its preflight did: the item's marks, what was fetched so far. A
    /// request under way for it ends.
    func deschedule(_ record: SyncRecord, in tx: Transaction) throws {
        controls.suspend(record.id, cancels: true)
        try tx.journal.delete(id: record.id)
        guard let item = try tx.items.item(localID: record.localID) else { return }
        try action(record.action.kind).takeBack(record, of: item, in: tx)
    }

    /// Ends a download for the one who asked for it. If another joined it, it goes on as the other's.
    /// - Returns: the record that goes on; nil: none does.
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

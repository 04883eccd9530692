public import Database
import LocalTree
public import Model

extension SyncEngine {
    /// Requests another download of a copy that may hold the first of two contents with one ETag. The copy stays as it
    /// is until the new file replaces it without a gap.
    ///
    /// Does nothing if another record concerns the item, or if the copy is claimed for more than reading. The next scan
    /// that finds the copy in this state calls the function again.
    /// - Throws: `.internal` if a record or claim makes no sense, or SQLite's error; see ``DatabaseReads``.
    public func fetchAgain(_ id: LocalID, in tx: Transaction) throws {
        guard var item = try tx.items.item(localID: id), item.kind == .file, item.cloudStatus == .localCopy,
            !item.isRemoved,
            try tx.journal.records(of: id).isEmpty,
            try tx.claims.valid(of: id, in: .current(now: clock.agesTo())).allSatisfy({ $0.kind == .read })
        else { return }
        item.syncActivity.insert(.downloading)
        item = try tx.items.updateLocal(item)
        var request = ActionRequest(.download, item: id, reason: item.downloadTrigger ?? .user)
        request.key = DownloadAction.keyOfFetchingAgain(id)
        _ = try record(request, of: item, in: tx)
        counters.expect(files: 1, bytes: item.size ?? 0)
    }
}

extension DownloadAction {
    fileprivate static func keyOfFetchingAgain(_ id: LocalID) -> String { "fetchAgain:\(id.text)" }

    /// Tells whether only the host itself wants this download.
    func fetchesAgain(_ record: SyncRecord) -> Bool { record.key == Self.keyOfFetchingAgain(record.localID) }
}

public import Model

/// What the journal's records make of items.
extension JournalTable {
    /// Returns an item as it is when the journal is worked off: a new version that waits to be uploaded gives a file
    /// another size and modification time. The row has those of the version on the server.
    /// - Throws: The errors of ``record(id:)``.
    public func queued(_ item: Item) throws -> Item {
        guard item.syncActivity.contains(.uploading) else { return item }
        var queued = item
        for record in try records(of: item.localID) {
            switch record.action {
            case .upload(let upload):
                (queued.size, queued.lastModified) = (upload.size, upload.modified ?? item.lastModified)
            case .setModificationTime(let time, _): queued.lastModified = time
            case .download, .removeLocalCopy, .purge, .createFolder, .delete, .move, .copy, .setFavorite: break
            }
        }
        return queued
    }
}

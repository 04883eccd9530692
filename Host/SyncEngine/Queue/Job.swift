import Model

/// A record with the state of its item when the journal was read.
struct Job: Sendable {
    var record: SyncRecord
    var path: ItemPath
    /// The version to download.
    var version: ETag
    /// The size in bytes, as the server reports it.
    var size: Int64?
    var lastModified: Timestamp?
    /// The media type, as listed.
    var mimeType: String?

    init(_ record: SyncRecord, item: Item) {
        self.record = record
        path = item.path
        version = item.etag ?? .substitute(size: item.size, lastModified: item.lastModified)
        size = item.size
        lastModified = item.lastModified
        mimeType = item.mimeType
    }

    var id: SyncRecordID { record.id }
}

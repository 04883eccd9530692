import Model

/// A record with what its item was when the journal was read.
struct Job: Sendable {
    var record: SyncRecord
    var path: ItemPath
    /// The version that is to come here.
    var version: ETag
    /// In bytes, by the server's word.
    var size: Int64?
    var lastModified: Timestamp?
    /// The media type that was listed.
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

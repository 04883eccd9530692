import Model

/// A record with the state of its item when the journal was read.
struct Job: Sendable {
    var record: SyncRecord
    /// The number of the item's row.
    var item: ItemRowID
    /// The item's path. For an action that changes the server: the record's path.
    var path: ItemPath
    /// The path that the item has on the server when the record's turn comes.
    var serverPath: ItemPath
    var kind: Item.Kind
    /// The version to download.
    var version: ETag
    /// The size in bytes, as the server reports it.
    var size: Int64?
    var lastModified: Timestamp?
    /// The media type, as listed.
    var mimeType: String?

    init(_ record: SyncRecord, item: Item) {
        self.record = record
        self.item = item.databaseID
        path = record.action.kind.changesServer ? record.path : item.path
        serverPath = path
        kind = item.kind
        version = item.etag ?? .substitute(size: item.size, lastModified: item.lastModified)
        size = item.size
        lastModified = item.lastModified
        mimeType = item.mimeType
    }

    var id: SyncRecordID { record.id }

    /// Whether a download of another job's file may end in another way.
    func isOther(than job: Job) -> Bool { version != job.version || size != job.size }

    /// The class of the file that is transferred.
    var sizeClass: SizeClass {
        if case .upload(let upload) = record.action { return SizeClass(of: upload.size) }
        return kind == .folder ? .small : SizeClass(of: size)
    }
}

import Model

/// Short forms for making the fake host's items.
extension Item {
    static func file(
        _ path: String, id: String? = nil, etag: String = "1", here trigger: String? = nil, copyEtag: String? = nil,
        status: CloudStatus? = nil, removed: Bool = false
    ) -> Item {
        let etag = ETag(opaque: etag, strength: .strong)
        let copied = copyEtag.map { ETag(opaque: $0, strength: .strong) } ?? etag
        let mark = FileMark(
            inode: 1, size: 0, modified: Timestamp(seconds: 0), changed: Timestamp(seconds: 0),
            recorded: Timestamp(seconds: 1))
        return Item(
            localID: LocalID(id ?? "id of \(path)"), fileID: FileID(path), path: ItemPath(unchecked: path), kind: .file,
            etag: etag, removedAt: removed ? Timestamp(seconds: 0) : nil,
            cloudStatus: status ?? (trigger == nil ? .cloudOnly : .localCopy),
            copy: trigger == nil ? nil : LocalCopy(etag: copied, digest: [], mark: mark),
            downloadTrigger: trigger.map { DownloadTrigger($0) })
    }

    static func folder(_ path: String, id: String? = nil, here trigger: String? = nil) -> Item {
        Item(
            localID: LocalID(id ?? "id of \(path)"), fileID: FileID(path), path: ItemPath(unchecked: path),
            kind: .folder,
            etag: ETag(opaque: "1", strength: .strong), cloudStatus: trigger == nil ? .cloudOnly : .localCopy,
            downloadTrigger: trigger.map { DownloadTrigger($0) })
    }
}

extension ItemPolicy {
    /// Returns a folder's policy in the form that `larder pin` writes.
    static func pin(folder path: String, localID: String? = nil) -> ItemPolicy {
        let escaped = path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return ItemPolicy(
            id: PolicyID("policy for \(localID ?? path)"), kind: .availableOffline,
            condition: path == "/"
                ? #"path.startsWith("/")"# : #"path == "\#(escaped)" || path.startsWith("\#(escaped)/")"#,
            path: ItemPath(unchecked: path), localID: localID.map { LocalID($0) })
    }
}

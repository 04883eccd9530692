public import Model

public func fileItem(_ path: String) -> Item {
    Item(localID: .random(), fileID: nil, path: ItemPath(unchecked: path), kind: .file)
}

public func folderItem(_ path: String) -> Item {
    Item(localID: .random(), fileID: nil, path: ItemPath(unchecked: path), kind: .folder)
}

public func mark(inode: UInt64, size: Int64 = 10) -> FileMark {
    FileMark(
        inode: inode, size: size, modified: Timestamp(seconds: 1), changed: Timestamp(seconds: 2),
        recorded: Timestamp(seconds: 3))
}

public func localCopy(_ etag: String, inode: UInt64) -> LocalCopy {
    LocalCopy(
        etag: ETag(opaque: etag, strength: .strong), digest: [UInt8](repeating: 7, count: 32), mark: mark(inode: inode))
}

public import Model

/// Returns a new file item at a path, without a copy.
public func fileItem(_ path: String) -> Item {
    Item(localID: .random(), fileID: nil, path: ItemPath(unchecked: path), kind: .file)
}

/// Returns a new folder item at a path.
public func folderItem(_ path: String) -> Item {
    Item(localID: .random(), fileID: nil, path: ItemPath(unchecked: path), kind: .folder)
}

/// Returns a mark with fixed times.
public func mark(inode: UInt64, size: Int64 = 10) -> FileMark {
    FileMark(
        inode: inode, size: size, modified: Timestamp(seconds: 1), changed: Timestamp(seconds: 2),
        recorded: Timestamp(seconds: 3))
}

/// Returns a local copy with a strong ETag, a fixed digest and a fixed size.
public func localCopy(_ etag: String, inode: UInt64) -> LocalCopy {
    LocalCopy(
        etag: ETag(opaque: etag, strength: .strong), digest: [UInt8](repeating: 7, count: 32), mark: mark(inode: inode))
}

public import Model

extension Transaction {
    /// The next scan lists what has this path, whatever the ETags above it say: the folder itself; of a file, or of what is not known
    /// yet, the folder that it is in.
    public func look(at path: ItemPath) throws {
        var folder = path
        while !folder.isRoot {
            if let row = try scanRow(at: folder), row.kind == .folder, row.removedAt == nil { break }
            folder = folder.parent
        }
        try addScanJob(ScanJob(path: folder, isWhole: false))
    }
}

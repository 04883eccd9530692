import Database
import LocalTree
import Logging
import Model

/// The way out of an upload that nobody can carry out, and by which nothing is lost: the file stays here, as one that
/// exists only here.
extension TakeBack {
    /// Takes an upload back, and keeps its file here.
    /// - Parameter place: Where the file is to lie.
    /// - Throws: `.localIO` if the file cannot be put into the tree; `.badData` if there is no name left for it.
    func keepHere(_ record: SyncRecord, _ place: KeptPlace, in tx: Transaction) throws {
        guard case .upload(let upload) = record.action else { return }
        try context.records.remove(record, in: tx)
        if upload.isNew {
            let displacement = QueueRewrite.Displacement(from: record.path, item: record.localID, isTakenBack: true)
            try rewriteQueue(behind: record, displacement, keeping: place, in: tx)
        } else {
            try keepFile(of: record, .beside, in: tx)
            try UploadAction(context).endActivity(of: record, in: tx)
        }
    }

    /// Makes the snapshot of an upload, which has left the journal, a file that exists only here.
    func keepFile(of record: SyncRecord, _ place: KeptPlace, in tx: Transaction) throws {
        guard case .upload(let upload) = record.action else { return }
        let found = try tx.items.item(localID: record.localID)
        let wanted = found?.path ?? record.path
        let isFree = try place == .inPlace && isPlaceholder(found, in: tx)
        let first = isFree ? wanted : try freeName(beside: wanted, in: tx)
        let (path, mark) = try putInTree(upload.snapshot, at: first, modified: upload.modified, wanted, in: tx)
        context.snapshots.spend(upload)
        counters.expect(files: -1, bytes: -upload.size)
        if isFree, path == wanted, var item = found {
            (item.cloudStatus, item.syncActivity) = (.localOnly, [])
            (item.size, item.lastModified) = (mark.size, mark.modified)
            try dropDownloads(of: item, in: tx)
            try tx.items.update(item)
        } else {
            try insertKept(mark, at: path, in: tx)
        }
        logger.notice("\(record.path) is not uploaded, and is kept here as \(path)")
    }

    /// Gives a snapshot a name in the tree: the first one, or another beside the wanted one.
    func putInTree(
        _ snapshot: String, at first: ItemPath, modified: Timestamp?, _ wanted: ItemPath, in tx: Transaction
    ) throws -> (ItemPath, FileMark) {
        var path = first
        for _ in 0..<Self.mostNamesTried {
            if let mark = try tree.keepSnapshot(snapshot, at: path, modified: modified) { return (path, mark) }
            path = try freeName(beside: wanted, besides: [path], in: tx)
        }
        throw Failure(
            .localIO, "\(wanted) cannot be kept here: something is in the way in the folder of the copies",
            hint: .text("Look into \(tree.localPath(of: wanted.parent))"))
    }

    /// Adds the item of a file that is kept here.
    func insertKept(_ mark: FileMark, at path: ItemPath, in tx: Transaction) throws {
        try tx.items.insert(
            Item(
                localID: .random(), fileID: nil, path: path, kind: .file, size: mark.size,
                lastModified: mark.modified, cloudStatus: .localOnly))
    }

    /// Tells whether an item is the placeholder of a file that nobody is to make any more.
    private func isPlaceholder(_ item: Item?, in tx: Transaction) throws -> Bool {
        guard let item, item.fileID == nil, item.cloudStatus == .cloudOnly, !item.isRemoved else { return false }
        return try tx.journal.records(of: item.localID).allSatisfy { !$0.action.kind.changesServer }
    }

    private static let mostNamesTried = 5

    /// Takes back the downloads of an item that is not made on the server.
    func dropDownloads(of item: Item, in tx: Transaction) throws {
        for record in try tx.journal.records(of: item.localID) where !record.action.kind.changesServer {
            try context.records.deschedule(record, in: tx)
        }
    }
}

/// The place of a file that is kept here and not uploaded.
enum KeptPlace: Sendable {
    /// The path to which the file was to be uploaded.
    case inPlace
    /// A name beside it, since the server has another file there.
    case beside
}

import Core
import Model
import Threads

/// The upload of several files, or of a folder: the changes that it consists of, and what became of them.
actor FilesUpload {
    /// The number of files and folders, and of bytes, after which the changes are queued that were found, in one
    /// transaction.
    private static let mostChanges = 256
    /// The number of the first ones. While they are sent, more are found.
    private static let firstChanges = 32
    private static let mostBytes = Int64(64 << 20)

    /// The upload of a file that was requested.
    struct Put: Sendable {
        var path: ItemPath
        /// The upload's record; nil if nothing had to be done.
        var record: SyncRecordID?
    }

    private let bookmark: Bookmark
    private let replaces: Bool
    private var files: UploadedFiles
    private var changesAtOnce = firstChanges
    /// The changes that are not queued yet.
    private var batch = UploadedFiles.Batch()
    /// The folders that cannot be made. What is in them was not uploaded either, which goes without saying.
    private var closed: [ItemPath] = []
    /// The uploads of files that were requested, unless a folder is uploaded.
    private(set) var puts: [Put] = []
    /// The number of files that are uploaded, or queued.
    private(set) var count = 0
    private(set) var records: [SyncRecordID] = []
    private(set) var failures: [Failure] = []

    init(_ files: UploadedFiles, of bookmark: Bookmark, replaces: Bool) {
        (self.files, self.bookmark, self.replaces) = (files, bookmark, replaces)
    }

    /// Returns the next changes, or again those that are not queued yet; nil at the end.
    func next() async -> [ChangeRequest]? {
        if batch.changes.isEmpty {
            let count = changesAtOnce
            changesAtOnce = min(2 * count, Self.mostChanges)
            (files, batch) = await runBlocking { [files, bookmark, replaces] in
                var files = files
                let batch = files.next(count, Self.mostBytes, for: bookmark, replaces: replaces)
                return (files, batch)
            }
            failures += batch.failures
        }
        return batch.changes.isEmpty ? nil : batch.changes
    }

    /// Notes the outcomes of the changes that ``next()`` has returned last.
    func queued(_ outcomes: [ChangeOutcome.Change]) async {
        let changes = batch.changes
        // The lock of the snapshots ends.
        batch = UploadedFiles.Batch()
        for (change, outcome) in zip(changes, outcomes) {
            if let record = outcome.record { records.append(record) }
            guard let refusal = outcome.refusal else {
                if case .put(_, let path, _) = change {
                    count += 1
                    if !files.isFolder { puts.append(Put(path: path, record: outcome.record)) }
                }
                continue
            }
            switch change {
            case .put(let snapshot, let path, _):
                await runBlocking { [bookmark] in Snapshots.discard(snapshot, of: bookmark) }
                if !closed.contains(where: { $0.isAncestor(of: path) }) { failures.append(refusal) }
            case .haveFolder(let path):
                if !closed.contains(where: { $0.isAncestor(of: path) }) { failures.append(refusal) }
                closed.append(path)
                files.leave(path)
            default: failures.append(refusal)
            }
        }
    }
}

import Database
import LocalTree
import Logging
import Model
import Synchronization
import Threads

/// The snapshots of files that were to be uploaded, and what the server keeps of uploads, when they are not needed any
/// more.
struct SnapshotRules: EnginePart {
    let context: ActionContext

    /// Notes that an upload's snapshot, and what the server keeps of it, is not needed any more, if the transaction under
    /// way is committed.
    func spend(_ upload: Upload) {
        context.spentSnapshots.withLock { _ = $0.insert(upload.snapshot) }
        if let begun = upload.begun { spend(begun) }
    }

    /// Notes that the server need not keep an upload open any more.
    func spend(_ begun: ResumableUpload) { context.spentUploads.withLock { $0.append(begun) } }

    /// Has the server drop the spent uploads, as far as it can be reached. What it keeps expires.
    func terminateUploads() async {
        let spent = context.spentUploads.withLock { spent in
            defer { spent = [] }
            return spent
        }
        for upload in spent { await context.server.terminate(upload) }
    }

    /// Removes the spent snapshots that no record names.
    func removeSpent() async {
        let spent = context.spentSnapshots.withLock { spent in
            defer { spent = [] }
            return spent
        }
        guard !spent.isEmpty else { return }
        await runBlocking { [self] in
            do {
                let needed = try database.readBlocking { try $0.journal.snapshots() }
                for name in spent where !needed.contains(name) { tree.removeSnapshot(name) }
                // The transaction that spends these may not be committed yet.
                context.spentSnapshots.withLock { $0.formUnion(spent.intersection(needed)) }
            } catch {
                // The next start sweeps the folder.
                logger.debug("Snapshots were left for the next start: \(error)")
            }
        }
    }

    /// The age from which on a snapshot without a record belongs to no command, where the file system has no locks.
    static let snapshotAge = Duration.seconds(3600)

    /// Removes the snapshots of commands that ended before they requested an upload.
    func sweep() throws {
        guard try database.readBlocking({ try $0.meta.integer(.keepsSnapshots) }) != 1 else {
            return try askAboutFound()
        }
        try tree.sweepOutgoing(olderThan: Self.snapshotAge) {
            try database.readBlocking { try $0.journal.snapshots() }
        }
    }
}

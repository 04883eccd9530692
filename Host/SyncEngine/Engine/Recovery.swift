import Database
import LocalTree
import Logging
import Model

/// A download that was complete when the host ended.
enum RecoveredLanding: Sendable {
    /// Still in `incoming/`.
    case incoming(Fetched)
    /// In place, with an item that does not say so yet.
    case placed(Placed)
}

/// The agreement of journal and files after a start.
struct Recovery: EnginePart {
    let context: ActionContext

    /// Makes journal and files agree after a start. Nothing is under way then, so records that were being processed are
    /// ready again. Files on their way into the tree go on from where they are. Files in `incoming/` that are not
    /// needed are removed.
    ///
    /// - Returns: The downloads that are to be put in place or completed.
    func recover() async throws -> [RecoveredLanding] {
        let stuck = try await database.write { tx in try tx.journal.makeStuckReady() }
        if stuck > 0 {
            logger.info("The engine resumes \(stuck) \(stuck == 1 ? "record" : "records") of the last run")
        }
        // The rest reads files, so it runs on a thread that may block.
        return try await Task(executorPreference: context.threads) { [self] in try takeStock() }.value
    }

    private func takeStock() throws -> [RecoveredLanding] {
        try context.snapshots.sweep()
        var found: [RecoveredLanding] = []
        var lost: [SyncRecord] = []
        try database.readBlocking { reads in
            // The sweep comes first: it gives a file that was on its way into the tree its name back.
            let rescued = try tree.sweepIncoming { name in try isWanted(name, reads) }
            for path in rescued {
                logger.warning("A file with unknown content was found in incoming/ and is kept as \(path)")
            }
            for journal in try reads.journal.landing() {
                guard let item = try reads.items.item(localID: journal.localID),
                    let landing = try recover(Job(journal, item: item), at: item.path)
                else {
                    lost.append(journal)
                    continue
                }
                found.append(landing)
            }
        }
        try database.writeBlocking { tx in
            // No other transaction adds to the totals meanwhile.
            counters.begin(try tx.journal.pendingTransfers())
            for var journal in lost {
                journal.landing = nil
                try tx.journal.update(journal)
            }
        }
        return found
    }

    /// Tells whether a file in `incoming/` is a download that is still to be done, or its beginning.
    private func isWanted(_ name: String, _ reads: ReadTransaction) throws -> Bool {
        guard let id = Job.record(ofIncoming: name), let journal = try reads.journal.record(id: id),
            journal.action == .download, let item = try reads.items.item(localID: journal.localID)
        else { return false }
        let job = Job(journal, item: item)
        // A file that was not journalled as whole may not be on the disk as it was written.
        return job.incomingNames.contains(name)
            && (journal.landing != nil || !context.isFirstSinceBoot && name == job.incomingName)
    }

    private func recover(_ job: Job, at path: ItemPath) throws -> RecoveredLanding? {
        guard let landing = job.record.landing else { return nil }
        if let whole = try DownloadAction(context).wholeFile(of: job, landing) { return .incoming(whole) }
        guard let mark = tree.mark(at: path, ifDigest: landing.digest) else { return nil }
        return .placed(Placed(job: job, path: path, landing: landing, mark: mark))
    }
}

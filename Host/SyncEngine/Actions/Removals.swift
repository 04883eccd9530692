import Connection
import Database
import LocalTree
import Logging
import Model

extension SyncEngine {
    /// Removes copies, and writes their items and records in the same transaction, so that nobody asks for a copy again that is
    /// just going. After a crash in between the copy is found missing, and the item says so. It blocks.
    func removeCopies(_ jobs: [Job]) throws -> [RecordOutcome] {
        do {
            let count = try readFirst(jobs)
            return try database.writeBlocking { tx in
                let start = clock.monotonic()
                let outcomes = try jobs.enumerated().map { index, job in
                    // Copies that have to be read take long, and all other writers wait: the rest gets a transaction of its own.
                    guard index < count, clock.monotonic() - start < Self.longestRemoval else {
                        return RecordOutcome(record: job.id, resolution: .stale)
                    }
                    guard let action = action(job.record.action.kind) as? any RemovalAction else {
                        throw Failure(.internal, "\(job.record.action.kind.rawValue) removes nothing")
                    }
                    return try action.carryOut(job, in: tx)
                }
                try tree.syncRemovals()
                // What went may have been in another's way.
                try tx.journal.endPlaceWaits()
                return outcomes
            }
        } catch let failure as Failure where failure.kind == .localIO {
            let until = waitTime() + Self.inUseDelay
            return jobs.map { RecordOutcome(record: $0.id, resolution: .waits(until: until), failure: failure) }
        }
    }

    /// Reads the copies whose looks do not prove their content before the transaction that removes them, in which all other writers
    /// would wait for it. It blocks.
    /// - Returns: how many of the records, from the first on, may be carried out now; the others wait for their turn.
    func readFirst(_ jobs: [Job]) throws -> Int {
        let start = clock.monotonic()
        var renewed: [ItemRowID: (copy: LocalCopy, mark: FileMark)] = [:]
        var count = 0
        for job in jobs where count == 0 || clock.monotonic() - start < Self.longestRemoval {
            count += 1
            guard let item = try database.readBlocking({ try $0.items.item(localID: job.record.localID) }),
                item.cloudStatus == .localCopy, let copy = item.copy, let mark = tree.prove(copy, at: item.path)
            else { continue }
            renewed[item.databaseID] = (copy, mark)
        }
        guard !renewed.isEmpty else { return count }
        try database.writeBlocking { tx in
            for (id, read) in renewed where try tx.items.item(databaseID: id)?.copy == read.copy {
                try tx.items.renewMark(read.mark, databaseID: id)
            }
        }
        return count
    }

    /// After this a transaction that removes copies takes no more of them.
    static let longestRemoval = Duration.seconds(2)

    /// Soon, and later each time: the move may meet trouble.
    func waitForMove(_ job: Job, of item: Item, in tx: Transaction) throws -> RecordOutcome {
        let attempts = job.record.attempts + 1
        let until = waitTime() + Self.backoff.delay(afterFailures: attempts)
        let failure = Failure(.failed, "\(item.path) is being moved")
        return try resolve(job, .wait(until: until, attempts: attempts), because: failure, in: tx)
    }

    /// Folders that are not kept here for their own sake go with the last copy in them.
    func removeEmptyFolders(above path: ItemPath, in tx: Transaction) throws {
        var folder = path.parent
        while !folder.isRoot {
            if let item = try tx.items.item(at: folder), item.cloudStatus != .cloudOnly { return }
            do { guard try tree.removeFolderIfEmpty(folder) else { return } } catch { return }
            folder = folder.parent
        }
    }

    func done(_ journal: SyncRecord, in tx: Transaction) throws -> RecordOutcome {
        try tx.journal.delete(id: journal.id)
        return RecordOutcome(record: journal.id, resolution: .ended)
    }
}

import Database
import LocalTree
import Model

/// The removal of copies, many in one transaction.
struct CopyRemoval: EnginePart {
    let context: ActionContext

    /// Removes copies, and writes their items and records in the same transaction, so that nobody can request a copy
    /// while it is being removed. After a crash during the removal the copy is found missing, and the item says so. The
    /// function blocks.
    func remove(_ jobs: [Job]) throws -> [RecordOutcome] {
        do {
            let count = try readFirst(jobs)
            return try database.writeBlocking { tx in
                let start = clock.monotonic()
                let outcomes = try jobs.enumerated().map { index, job in
                    // Copies that have to be read take long, and all other writers wait. The remaining copies get a
                    // transaction of their own.
                    guard index < count, clock.monotonic() - start < Self.longestRemoval else {
                        return RecordOutcome(record: job.id, resolution: .stale)
                    }
                    guard case .removal(let action) = job.record.action.kind.type else {
                        throw Failure(.internal, "\(job.record.action.kind.rawValue) removes nothing")
                    }
                    return try action.init(context).carryOut(job, in: tx)
                }
                try tree.syncRemovals()
                // A removed copy may have been in the way of another item.
                try tx.journal.endPlaceWaits()
                if try !tx.moves.isEmpty { tx.noteFreedPlace() }
                return outcomes
            }
        } catch let failure as Failure where failure.kind == .localIO {
            let until = waitTime() + SyncEngine.inUseDelay
            return jobs.map { RecordOutcome(record: $0.id, resolution: .waits(until: until), failure: failure) }
        }
    }

    /// Reads the copies whose marks do not prove their content, before the transaction that removes the copies: in that
    /// transaction all other writers would wait for the reading. The function blocks.
    /// - Returns: The number of records, counted from the first, that may be carried out now. The other records wait
    ///   for their turn.
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

    /// The time after which a transaction that removes copies takes no more of them.
    private static let longestRemoval = Duration.seconds(2)
}

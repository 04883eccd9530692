import Database
import LocalTree
import Model

extension SyncEngine {
    /// Reads the copies whose looks do not prove their content before the transaction that removes them, in which all other writers
    /// would wait for it. It blocks.
    /// - Returns: how many of the records, from the first on, may be carried out now; the others wait for their turn.
    func readFirst(_ jobs: [Job]) throws -> Int {
        let start = clock.monotonic()
        var renewed: [Int64: (copy: LocalCopy, mark: FileMark)] = [:]
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
}

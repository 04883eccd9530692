import Database
import LocalTree
import Logging
import Model

/// The action that forgets an item that is no longer on the server, and removes the item's copy.
struct PurgeAction: RemovalAction {
    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    /// Forgets an item without a copy at once. An item that has a record in the journal, or was changed here, stays
    /// known.
    func preflight(_ request: ActionRequest, of item: Item, in tx: Transaction) throws -> EnqueueOutcome {
        if let other = try tx.journal.records(of: item.localID).first { return .joined(other.id) }
        switch try context.copies.objection(to: .purge, of: item, besides: nil, in: tx) {
        case .kept, .used: return .done
        case .changed, .moving, nil: break
        }
        switch item.cloudStatus {
        case .locallyModified, .localOnly: return .done
        // A folder that was made here for copies stays known until they are gone.
        case .cloudOnly where try item.kind == .folder && tx.items.holdsCopies(below: item.path):
            return .queued(try context.records.record(request, of: item, in: tx).id)
        case .cloudOnly:
            try tx.items.delete(databaseID: item.databaseID)
            return .done
        case .localCopy: return .queued(try context.records.record(request, of: item, in: tx).id)
        }
    }

    /// Removes the copy and forgets the item, in one transaction with other removals. An item that cannot be removed
    /// now is skipped: its requester will find it again.
    func carryOut(_ job: Job, in tx: Transaction) throws -> RecordOutcome {
        guard let journal = try tx.journal.record(id: job.id) else {
            return RecordOutcome(record: job.id, resolution: .ended)
        }
        guard var item = try tx.items.item(localID: journal.localID) else {
            return try context.records.done(journal, in: tx)
        }
        switch try context.copies.objection(to: .purge, of: item, besides: journal, in: tx) {
        case .kept(let why), .used(let why):
            context.copies.passOver(item, why, .purge, for: journal.reason)
            return try context.records.done(journal, in: tx)
        case .changed: return try context.records.done(journal, in: tx)
        case .moving: return try context.failures.waitForMove(job, of: item, in: tx)
        case nil: break
        }
        switch try takeCopy(of: item, in: tx) {
        case .gone: try tx.items.delete(databaseID: item.databaseID)
        case .modified:
            item.cloudStatus = .locallyModified
            try tx.items.updateLocal(item)
            logger.notice("\(item.path) is gone from the server, but was changed here: the file stays")
        case .stays(let why):
            logger.debug("\(item.path), which is gone from the server, \(why) and stays for now")
        case .fails(let failure):
            logger.notice("The copy of \(item.path), which is gone from the server, stays for now: \(failure.message)")
        }
        return try context.records.done(journal, in: tx)
    }

    private enum Taken {
        case gone
        case modified
        case stays(String)
        case fails(Failure)
    }

    private func takeCopy(of item: Item, in tx: Transaction) throws -> Taken {
        // The file at this path belongs to another item, which has the path now, unless that one's copy waits elsewhere
        // until this one is gone. A file is no folder's copy.
        if let other = try tx.items.item(at: item.path), other.cloudStatus != .cloudOnly,
            item.kind == .folder || other.kind == .file, try !tx.moves.isToCome(to: item.path)
        {
            return .gone
        }
        guard item.kind == .file else {
            do { return try tree.removeFolderIfEmpty(item.path) ? .gone : .stays("is not empty") } catch {
                return .fails(error)
            }
        }
        guard let copy = item.copy else { return .gone }
        let outcome: RemoveOutcome
        do { outcome = try tree.remove(at: item.path, known: copy) } catch { return .fails(error) }
        switch outcome {
        case .removed, .nothingThere:
            if outcome == .removed { tx.noteRemovedCopy() }
            try context.copies.removeEmptyFolders(above: item.path, in: tx)
            return .gone
        case .modified: return .modified
        case .inUse: return .stays("is open in another program")
        // The obstacle is not the copy, whatever it is.
        case .obstructed: return .gone
        }
    }
}

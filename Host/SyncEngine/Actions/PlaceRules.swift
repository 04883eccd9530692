import Database
import LocalTree
import Model
import Synchronization

/// Something that lies in a file's place and must not be removed to make room for the file.
struct HeldPlace {
    var wait: WaitCondition
    var failure: Failure
}

/// The rules for the place of an obsolete copy. The copy of an item that is gone from the server stays until vacuum
/// removes it. The copy of an item about which nobody has decided yet stays at least until the decision. A download
/// that needs the place waits. So does one before which moves of the tree are to be made: put in place before, the file
/// would go along with a folder, or leave its item's older copy where nobody knows it.
struct PlaceRules: EnginePart {
    let context: ActionContext

    /// Returns what keeps an item from its place, or nil if nothing does, or if the obstacle does not go away by
    /// itself.
    func held(of item: Item, in tx: Transaction) throws -> HeldPlace? {
        let obstacle = try tx.items.obstacle(at: item.path, for: item.kind)
        switch obstacle {
        case nil: return try claimedPlace(of: item, in: tx) ?? placeOfMove(of: item, in: tx)
        case .undecided:
            let issue = try tx.scan.heldRemovals()
            return HeldPlace(
                wait: issue.map { .issue($0.id) } ?? .place,
                failure: Failure(
                    .failed,
                    "\(item.path) waits: the copy in its place belongs to an item that may still be on the "
                        + "server",
                    hint: issue.map { .answerIssue($0.id) } ?? .text("The end of the scan decides this")))
        case .removed(let path):
            return HeldPlace(
                wait: .place,
                failure: Failure(
                    .failed,
                    "\(item.path) waits: an old copy is in its place until vacuum removes it, "
                        + "or you do: \(tree.localPath(of: path))"))
        }
    }

    /// Returns the place of a file before which moves are to be made.
    private func placeOfMove(of item: Item, in tx: Transaction) throws -> HeldPlace? {
        guard item.kind == .file, try tx.moves.isToCome(beforeFileOf: item) else { return nil }
        return HeldPlace(
            wait: .place,
            failure: Failure(.failed, "\(item.path) waits: copies are still to be moved there, or away from there"))
    }

    /// Returns the place of a claimed copy. A file replaces the copy of a removed file at the very same path, unless
    /// that copy is claimed.
    private func claimedPlace(of item: Item, in tx: Transaction) throws -> HeldPlace? {
        guard item.kind == .file, let gone = try tx.items.removedCopy(at: item.path),
            let claim = try context.copies.validClaim(of: gone, in: tx)
        else { return nil }
        return HeldPlace(
            wait: .place,
            failure: Failure(
                .failed, "\(item.path) waits: the old copy in its place \(claim)",
                hint: .listClaims))
    }

    /// Tells whether an item's copy, moved to a path, would have to wait there.
    /// - Throws: SQLite's error, and as ``CopyRules/validClaim(of:in:)``; see ``DatabaseReads``.
    func isHeld(_ path: ItemPath, for item: Item, in reads: some DatabaseReads) throws -> Bool {
        guard try reads.items.hasRemovedCopies() else { return false }
        if try reads.items.obstacle(at: path, for: item.kind) != nil { return true }
        guard item.kind == .file, let gone = try reads.items.removedCopy(at: path) else { return false }
        return try context.copies.validClaim(of: gone, in: reads) != nil
    }

    /// Lets a download wait for its place.
    func wait(_ journal: SyncRecord, for place: HeldPlace, in tx: Transaction) throws {
        var waiting = journal
        waiting.state = .ready
        waiting.wait = place.wait
        waiting.landing = nil
        try tx.journal.update(waiting)
        context.reasons.withLock { $0[journal.id] = place.failure }
    }

    /// Gives an item the copy of a removed file at the item's path, before the item's download is put in place. The
    /// item then has a copy of an older version, which the new file replaces in one step.
    func takeOver(of item: Item, in tx: Transaction) throws -> Item {
        guard item.kind == .file, item.cloudStatus == .cloudOnly, let gone = try tx.items.removedCopy(at: item.path),
            gone.kind == .file, let copy = gone.copy
        else { return item }
        try tx.items.dropCopy(of: gone)
        var heir = item
        heir.copy = copy
        heir.cloudStatus = .localCopy
        return try tx.items.updateLocal(heir)
    }
}

extension Transaction {
    /// Tells whether the place of any item may be held: see ``PlaceRules/held(of:in:)``.
    func mayHoldPlaces() throws -> Bool { try items.hasRemovedCopies() || !moves.isEmpty }
}

import Database
import LocalTree
import Logging
import Model

/// A reason against removing a copy.
enum Objection: Hashable, Sendable {
    /// A copy that was changed here, or is only here.
    case changed
    /// A removal that nobody wants any more: a policy keeps the copy, or the reason for the removal is over. As the end
    /// of a sentence.
    case kept(String)
    /// A copy that somebody uses and that may be removed later. As the end of a sentence.
    case used(String)
    /// A move that the tree has still to follow.
    case moving
}

/// The rules for copies: by what they are in use, and whether they may be removed.
///
/// The kernel tells whether a program has a copy open, when the copy is taken out of the tree.
struct CopyRules: EnginePart {
    let context: ActionContext

    // MARK: Use

    /// Tells why a copy that may only be removed while unused stays.
    /// - Parameters:
    ///   - since: The time from which on a use counts.
    ///   - record: The record of the removal itself, or nil if the removal has no record yet.
    /// - Returns: The reason as the end of a sentence, or nil if nothing keeps the copy.
    func use(of item: Item, since: Timestamp, besides record: SyncRecordID?, in tx: Transaction) throws -> String? {
        if try tx.journal.records(of: item.localID).contains(where: { $0.id != record }) {
            return "has another action pending"
        }
        // A use in the future was recorded while the clock was wrong.
        let now = clock.now()
        let uses = [item.lastUsed, context.callbacks.usedJustNow(item.path)].compactMap(\.self)
        if uses.contains(where: { $0 > since && $0 <= now }) { return "was used just now" }
        return try validClaim(of: item, in: tx)
    }

    /// Tells by which claim a copy stays.
    /// - Returns: The claim as the end of a sentence, or nil if there is no claim.
    /// - Throws: As ``ClaimTable/of(_:)``.
    func validClaim(of item: Item, in reads: some DatabaseReads) throws -> String? {
        let claims = try reads.claims.valid(of: item.localID, in: .current(now: clock.agesTo()))
        return claims.max { $0.kind < $1.kind }.map(\.use)
    }

    /// Returns the claim by which an item's copy must not be replaced, as the end of a sentence.
    ///
    /// Only a claim for writing has this effect. A claim for reading has the copy brought up to date, and a claim
    /// against deletion accepts any version.
    func claimForWriting(of item: Item, in tx: Transaction) throws -> String? {
        guard item.cloudStatus != .cloudOnly else { return nil }
        let claims = try tx.claims.valid(of: item.localID, in: .current(now: clock.agesTo()))
        return claims.first { $0.kind == .write }?.use
    }

    /// Drops an action, since the item is in use or must stay as it is.
    func passOver(_ item: Item, _ use: String, _ action: SyncRecord.Action, for reason: DownloadTrigger) {
        logger.debug("The action \(action.kind.rawValue) for \(reason) was dropped: \(item.path) \(use) and stays")
        note(DroppedAction(path: item.path, action: action, reason: reason, why: "the copy \(use) and stays"))
    }

    func note(_ dropped: DroppedAction) { if dropped.reason != .user { context.callbacks.tell(.dropped(dropped)) } }

    // MARK: Removal

    /// Returns the objection to removing an item's copy. Only this function decides whether a copy may be removed,
    /// whoever requested the removal: when it is requested, and again in the transaction that carries it out. The state
    /// of the file itself is checked where the file is taken out of the tree.
    /// - Parameters:
    ///   - request: The removal, as requested.
    ///   - record: The removal's own record, or nil if the removal has no record yet.
    /// - Returns: The objection, or nil if the copy may be removed.
    func objection(
        to request: SyncRecord.Action, of item: Item, besides record: SyncRecord?, in tx: Transaction
    ) throws -> Objection? {
        switch request {
        case .download, .createFolder, .delete, .move, .copy, .setFavorite, .setModificationTime, .upload: return nil
        case .purge:
            guard let removedAt = item.removedAt else { return .kept("is on the server again") }
            // The server may yet refuse to delete it, or a person may take the deletion back.
            if try tx.items.deletion(of: item.databaseID) != nil { return .kept("is still on the server") }
            // An item that another item displaced is not gone before that is decided.
            if try tx.scan.isMissing(item.databaseID) { return .kept("may still be on the server") }
            // The item was gone, came back and is gone again: the second absence has an age of its own.
            if let record, record.since < removedAt { return .kept("was on the server again meanwhile") }
            if try tx.journal.records(of: item.localID).contains(where: { $0.id != record?.id }) {
                return .kept("has another action pending")
            }
        case .removeLocalCopy(_, let unusedSince):
            if let unusedSince, let use = try use(of: item, since: unusedSince, besides: record?.id, in: tx) {
                return .used(use)
            }
            if let policy = try tx.policies.keeping(item, now: clock.agesTo()) { return .kept(policy.keeps) }
        }
        switch item.cloudStatus {
        case .locallyModified, .localOnly: return .changed
        case .cloudOnly: return nil
        case .localCopy: break
        }
        let isMoving =
            if case .purge = request { try tx.moves.isToCome(ofRemoved: item) } else {
                try tx.moves.isToCome(around: item.path)
            }
        if isMoving { return .moving }
        return try validClaim(of: item, in: tx).map(Objection.used)
    }

    /// Tells why a copy that a person wanted to remove is still here.
    /// - Returns: The reason as the end of a sentence, or nil if nothing keeps the copy.
    /// - Throws: `.badData` if a policy's condition does not parse, `.internal` if a record or claim makes no sense, or
    ///   SQLite's error; see ``DatabaseReads``.
    func reasonToStay(_ item: Item, in tx: Transaction) throws -> String? {
        switch item.cloudStatus {
        case .cloudOnly: return nil
        case .localOnly: return "exists only here"
        case .locallyModified: return "was changed here"
        case .localCopy: break
        }
        switch try objection(to: .removeLocalCopy(restoringFormerTrigger: false), of: item, besides: nil, in: tx) {
        case .kept(let why), .used(let why): return why
        case .moving: return "is being moved"
        case .changed: return "was changed here"
        case nil: break
        }
        if let change = try tx.journal.records(of: item.localID).first(where: { $0.action.kind.changesServer }) {
            return "waits for the \(change.action.kind.rawValue) of \(change.path) (record \(change.id))"
        }
        return "is open in another program"
    }

    /// Removes the empty folders above a path, up to the first folder that is kept here for its own sake.
    func removeEmptyFolders(above path: ItemPath, in tx: Transaction) throws {
        var folder = path.parent
        while !folder.isRoot {
            // A file that is to be here waits for the folder in its place to go.
            if let item = try tx.items.item(at: folder), item.kind == .folder, item.cloudStatus != .cloudOnly { return }
            do { guard try tree.removeFolderIfEmpty(folder) else { return } } catch { return }
            folder = folder.parent
        }
    }
}

extension Claim {
    fileprivate var use: String { "is claimed (\(kind.name), \(id))" }
}

extension ItemPolicy {
    /// The policy as the end of a sentence.
    fileprivate var keeps: String { "is kept here by the policy \(path?.text ?? condition) (\(id))" }
}

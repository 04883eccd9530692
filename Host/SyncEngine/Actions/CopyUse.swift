public import Database
import LocalTree
import Logging
public import Model

/// Who uses a copy, as far as the database knows; what is open, the kernel says when the copy is taken.
extension SyncEngine {
    /// Why a copy that only goes unused stays, as a sentence's end; nil if nothing speaks for it.
    /// - Parameters:
    ///   - since: From when on a use counts.
    ///   - record: The record of the removal itself; nil if it has none yet.
    func use(of item: Item, since: Timestamp, besides record: SyncRecordID?, in tx: Transaction) throws -> String? {
        if try tx.journal.records(of: item.localID).contains(where: { $0.id != record }) {
            return "has something else to be done with it"
        }
        // What was used in the future was used when the clock was wrong.
        let now = clock.now()
        let uses = [item.lastUsed, callbacks.usedJustNow(item.path)].compactMap(\.self)
        if uses.contains(where: { $0 > since && $0 <= now }) { return "was used just now" }
        return try validClaim(of: item, in: tx)
    }

    /// Tells by which claim a copy stays, as a sentence's end; nil if there is none.
    /// - Throws: As ``ClaimTable/of(_:)``.
    public func validClaim(of item: Item, in reads: some DatabaseReads) throws -> String? {
        let claims = try reads.claims.valid(of: item.localID, in: .current(now: clock.agesTo()))
        return claims.max { $0.kind < $1.kind }.map(\.use)
    }

    /// The claim by which an item's copy stays as it is, as a sentence's end. One for reading has it brought up to date, and one
    /// against deletion is content with any version.
    func claimForWriting(of item: Item, in tx: Transaction) throws -> String? {
        guard item.cloudStatus != .cloudOnly else { return nil }
        let claims = try tx.claims.valid(of: item.localID, in: .current(now: clock.agesTo()))
        return claims.first { $0.kind == .write }?.use
    }

    /// Drops what was asked for, since the item is in use, or wanted as it is.
    func passOver(_ item: Item, _ use: String, _ action: SyncRecord.Action, for reason: DownloadTrigger) {
        logger.debug("\(action.kind.rawValue) for \(reason) dropped: \(item.path) \(use) and stays")
        note(DroppedAction(path: item.path, action: action, reason: reason, why: "it \(use) and stays"))
    }

    func note(_ dropped: DroppedAction) { if dropped.reason != .user { callbacks.dropped(dropped) } }
}

extension Claim {
    fileprivate var use: String { "is claimed (\(kind.name), \(id))" }
}

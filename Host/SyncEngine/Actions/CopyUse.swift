public import Database
import LocalTree
import Logging
public import Model

/// The uses of a copy that the database knows. The kernel tells whether a program has the copy open, when the copy is
/// taken out of the tree.
extension SyncEngine {
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
        let uses = [item.lastUsed, callbacks.usedJustNow(item.path)].compactMap(\.self)
        if uses.contains(where: { $0 > since && $0 <= now }) { return "was used just now" }
        return try validClaim(of: item, in: tx)
    }

    /// Tells by which claim a copy stays.
    /// - Returns: The claim as the end of a sentence, or nil if there is no claim.
    /// - Throws: As ``ClaimTable/of(_:)``.
    public func validClaim(of item: Item, in reads: some DatabaseReads) throws -> String? {
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

    func note(_ dropped: DroppedAction) { if dropped.reason != .user { callbacks.dropped(dropped) } }
}

extension Claim {
    fileprivate var use: String { "is claimed (\(kind.name), \(id))" }
}

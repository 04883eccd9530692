import Logging
import Model
import Storage

/// Who uses a copy, as far as the database knows; what is open, the kernel says when the copy is taken.
extension SyncEngine {
    /// Why a copy that only goes unused stays, as a sentence's end; nil if nothing speaks for it.
    /// - Parameters:
    ///   - since: From when on a use counts.
    ///   - record: The record of the removal itself; nil if it has none yet.
    func use(of item: Item, since: Timestamp, besides record: Int64?, in tx: Transaction) throws -> String? {
        if try tx.syncRecords(of: item.localID).contains(where: { $0.id != record }) {
            return "has something else to be done with it"
        }
        // What was used in the future was used when the clock was wrong.
        let now = clock.now()
        let uses = [item.lastUsed, callbacks.usedJustNow(item.path)].compactMap(\.self)
        if uses.contains(where: { $0 > since && $0 <= now }) { return "was used just now" }
        return try validClaim(of: item, in: tx)
    }

    /// The same for claims alone.
    func validClaim(of item: Item, in tx: Transaction) throws -> String? {
        let claims = try tx.validClaims(of: item.localID, in: .current(now: clock.now()))
        guard let claim = claims.max(by: { $0.kind < $1.kind }) else { return nil }
        return "is claimed (\(claim.kind.name), \(claim.id))"
    }

    func passOver(_ item: Item, _ use: String) { logger.debug("\(item.path) \(use) and stays") }
}

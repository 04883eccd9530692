import Database
import LocalTree
import Model

extension MetaKey {
    /// Looks that were recorded before this time are no proof; nanoseconds since 1970.
    static let looksSince = MetaKey("looksSince")
    /// The step of the times that the tree's file system keeps, in nanoseconds, as it was measured last.
    static let looksStep = MetaKey("looksStep")
}

extension Transaction {
    /// What has been recorded of copies until now proves nothing any more: each is read before it goes.
    func distrustLooks(now: Timestamp) throws {
        // The clock may be behind those by which they were recorded.
        let last = try items.lastRecordedLooks()
        try meta.set(.looksSince, max(last ?? now, now))
    }
}

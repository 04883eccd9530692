import Database
import LocalTree
import Model

extension MetaKey {
    /// Looks that were recorded before this time are no proof; nanoseconds since 1970.
    static let marksTrustedSince = MetaKey("looksSince")
    /// The step of the times that the tree's file system keeps, in nanoseconds, as it was measured last.
    static let markStep = MetaKey("looksStep")
}

extension Transaction {
    /// What has been recorded of copies until now proves nothing any more: each is read before it goes.
    func distrustMarks(now: Timestamp) throws {
        // The clock may be behind those by which they were recorded.
        let last = try items.newestMarkTime()
        try meta.set(.marksTrustedSince, max(last ?? now, now))
    }
}

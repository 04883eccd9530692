import Database
import LocalTree
import Model

extension MetaKey {
    /// The time before which recorded marks are no proof, in nanoseconds since 1970.
    static let marksTrustedSince = MetaKey("looksSince")
    /// The resolution of the times that the tree's file system keeps, in nanoseconds, as last measured.
    static let markStep = MetaKey("looksStep")
}

extension Transaction {
    /// Makes all marks recorded until now invalid as proof, so that each copy is read before it is removed.
    func distrustMarks(now: Timestamp) throws {
        // The clock may be behind the clock by which the marks were recorded.
        let last = try items.newestMarkTime()
        try meta.set(.marksTrustedSince, max(last ?? now, now))
    }
}

/// How much a scan may take away before a person is asked: a server that lost its disk lists empty folders too.
public struct RemovalGuard: Hashable, Sendable {
    /// Of the items that were known within a day, 0 to 1; what went within a day counts together. Fewer than ``leastForShare`` items are never too many by their share.
    public var share: Double
    public var items: Int

    public static let leastForShare = 20

    public init(share: Double = 0.5, items: Int = 1000) {
        self.share = share
        self.items = items
    }

    /// Whether so many removals wait for a person.
    /// - Parameters:
    ///   - removals: of one scan.
    ///   - earlier: those of the 24 hours before, which count for the share.
    ///   - known: the highest count of items in that time.
    public func holds(_ removals: Int, after earlier: Int = 0, ofKnown known: Int) -> Bool {
        if removals > items { return true }
        let all = removals + earlier
        return all >= Self.leastForShare && Double(all) > share * Double(known)
    }
}

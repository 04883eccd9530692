/// The limits for removals by a scan before a person is asked: a server that lost its disk lists empty folders too.
public struct RemovalGuard: Hashable, Sendable {
    /// The share, 0 to 1, of the items that were known within a day. All items that were removed within a day count
    /// together. Fewer than ``leastForShare`` items are never too many by their share.
    public var share: Double
    /// The number of items that one scan may remove.
    public var items: Int

    /// The smallest number of removals to which ``share`` applies.
    public static let leastForShare = 20

    /// Creates limits, by default half of the items and 1000 items.
    public init(share: Double = 0.5, items: Int = 1000) {
        self.share = share
        self.items = items
    }

    /// Tells whether the removals must wait for a person.
    /// - Parameters:
    ///   - removals: The number of removals of one scan.
    ///   - earlier: The number of removals in the 24 hours before, which count for the share.
    ///   - known: The highest number of items in that time.
    public func holds(_ removals: Int, after earlier: Int = 0, ofKnown known: Int) -> Bool {
        if removals > items { return true }
        let all = removals + earlier
        return all >= Self.leastForShare && Double(all) > share * Double(known)
    }
}

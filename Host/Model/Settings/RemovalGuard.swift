/// How much a scan may take away before a person is asked: a server that lost its disk lists empty folders too.
public struct RemovalGuard: Hashable, Sendable {
    /// Of all known items, 0 to 1. Fewer than ``leastForShare`` items are never too many by their share.
    public var share: Double
    public var items: Int

    public static let leastForShare = 20

    public init(share: Double = 0.5, items: Int = 1000) {
        self.share = share
        self.items = items
    }

    /// Whether so many removals wait for a person.
    public func holds(_ removals: Int, ofKnown known: @autoclosure () throws -> Int) rethrows -> Bool {
        if removals > items { return true }
        return try removals >= Self.leastForShare && Double(removals) > share * Double(known())
    }
}

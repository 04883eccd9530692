import Database
public import Model

/// Which items are listed, and in which order.
public struct ItemQuery: Sendable {
    /// A folder, whose contents are listed, or a file, which is listed itself.
    public var path: ItemPath
    /// Everything below, not only what is directly in the folder.
    public var isRecursive = false
    /// Items that are gone from the server but still known are listed too, as they are if the condition asks for that.
    public var includesRemoved = false
    public var condition: Condition?
    /// Nil: by path, byte by byte.
    public var sort: Condition.Property?
    public var isDescending = false
    public var limit: Int?
    /// The moment that `now` in the condition stands for.
    public var now: Timestamp

    public init(path: ItemPath, now: Timestamp) {
        self.path = path
        self.now = now
    }

    var listing: ItemListing {
        let asksForRemoved = condition.map { $0.names(.removed) || $0.names(.removedAt) } ?? false
        var listing = ItemListing(
            folder: path, isRecursive: isRecursive, includesRemoved: includesRemoved || asksForRemoved)
        if let condition {
            listing.condition = (condition, now)
        }
        listing.sort = sort.flatMap { property in ItemColumn.allCases.first { "\($0)" == property.rawValue } }
        listing.isDescending = isDescending
        listing.limit = limit
        return listing
    }
}

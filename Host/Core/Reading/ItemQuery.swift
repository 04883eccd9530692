import Database
public import Model

/// The items to list, and their order.
public struct ItemQuery: Sendable {
    /// The path of a folder, whose contents are listed, or of a file, which is listed itself.
    public var path: ItemPath
    /// Whether everything below the folder is listed, not only the folder's direct contents.
    public var isRecursive = false
    /// Whether the list includes items that are gone from the server but still known. The list also includes them if
    /// the condition names `removed` or `removedAt`.
    public var includesRemoved = false
    /// The condition that a listed item meets; nil lists all items.
    public var condition: ItemCondition?
    /// The property to sort by; nil sorts by path, byte by byte.
    public var sort: Condition.Property?
    /// Whether the order is descending.
    public var isDescending = false
    /// The highest number of items to list; nil lists all.
    public var limit: Int?
    /// The time that `now` in the condition stands for.
    public var now: Timestamp

    /// Creates a query of the items at a path.
    public init(path: ItemPath, now: Timestamp) {
        self.path = path
        self.now = now
    }

    /// Returns the listing of the query.
    /// - Parameter resolved: The query's condition, resolved.
    func listing(_ resolved: Condition?) -> ItemListing {
        let asksForRemoved = condition.map { $0.names(.removed) || $0.names(.removedAt) } ?? false
        var listing = ItemListing(
            folder: path, isRecursive: isRecursive, includesRemoved: includesRemoved || asksForRemoved)
        listing.condition = resolved.map { ($0, now) }
        listing.sort = sort.flatMap { property in ItemColumn.allCases.first { "\($0)" == property.rawValue } }
        listing.isDescending = isDescending
        listing.limit = limit
        return listing
    }
}

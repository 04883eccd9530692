/// A property to sort items by. Text is sorted by its bytes. Items without a value come first, or last if descending.
///
/// ```swift
/// let items = try host.require(host.items, .items)
/// var largest = try items.matching("type == \"file\"", fields: [.path], sortedBy: .size, descending: true, limit: 10)
/// while let item = try largest.next() { host.log?.info(item.path?.copied() ?? "") }
/// ```
public struct ItemSort: Hashable, Sendable {
    /// The value in the ABI.
    let rawValue: UInt32

    private init(_ field: Int32) { rawValue = UInt32(field) + 1 }

    /// Sorts by ``Item/path``.
    public static let path = ItemSort(LARDER_FIELD_PATH)
    /// Sorts by ``Item/name``.
    public static let name = ItemSort(LARDER_FIELD_NAME)
    /// Sorts by ``Item/size``.
    public static let size = ItemSort(LARDER_FIELD_SIZE)
    /// Sorts by ``Item/lastModified``.
    public static let lastModified = ItemSort(LARDER_FIELD_LAST_MODIFIED)
    /// Sorts by ``Item/lastUsed``. An index holds the items with a local copy in this order: with a limit, a query for
    /// them costs only as much as the limit is high.
    public static let lastUsed = ItemSort(LARDER_FIELD_LAST_USED)
}

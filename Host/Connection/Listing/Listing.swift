public import Model

/// How much of a folder's listing is taken. A listing beyond a limit is none: nothing that is known of the folder changes for it, and
/// the error names the limit.
struct ListingLimits {
    /// Entries of any kind, refused ones too.
    var entries = 1_000_000
    /// Entries of which the server tells an error instead of properties.
    var unknown = 10_000
    /// Entries that cannot be kept and are held in memory; the others are only counted.
    var namedRefusals = 10
    /// The bytes of such an entry's address that are held.
    var shownAddress = 300
}

/// What a listing told beside its entries.
public struct Listing: Sendable, Hashable {
    /// The folder itself; with `Depth.zero` it may be a file.
    public var folder: ListedItem
    /// How many entries were handed out.
    public var entries: Int
    /// The server's clock, to the second, when it answered.
    public var date: Timestamp?
    /// Entries that cannot be kept here, the first few of them. They are on the server.
    public var refused: [UnusableEntry]
    /// All of them.
    public var refusedCount: Int
    /// Entries of which the server told an error instead of properties. They are on the server: what is known of them, and of
    /// all below them, stays as it is.
    public var unknown: [ItemPath]
    /// Whether an entry more than one level below the folder came. Without one, `Depth.infinity` tells of direct children only,
    /// unless none of these is a folder with something in it.
    public var reachesGrandchildren: Bool

    public init(
        folder: ListedItem, entries: Int = 0, date: Timestamp? = nil, refused: [UnusableEntry] = [],
        refusedCount: Int = 0, unknown: [ItemPath] = [], reachesGrandchildren: Bool = false
    ) {
        self.folder = folder
        self.entries = entries
        self.date = date
        self.refused = refused
        self.refusedCount = max(refusedCount, refused.count)
        self.unknown = unknown
        self.reachesGrandchildren = reachesGrandchildren
    }
}

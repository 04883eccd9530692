public import Model

/// The limits of a folder's listing. A listing beyond a limit is rejected as a whole: the stored facts about the folder
/// do not change, and the error names the limit.
struct ListingLimits {
    /// The largest number of entries of any kind, unusable ones included.
    var entries = 1_000_000
    /// The largest number of entries for which the server tells an error instead of properties.
    var unknown = 10_000
    /// The largest number of bytes without the end of an entry. An entry with the most text that is taken, each
    /// character of it escaped, is shorter.
    var longestGap = 128 << 20
    /// The number of unusable entries that are held in memory. Further ones are only counted.
    var namedRefusals = 10
    /// The number of bytes of such an entry's address that are held.
    var shownAddress = 300
}

/// The result of a listing, without its entries.
public struct Listing: Sendable, Hashable {
    /// The folder itself. With `Depth.zero` it may be a file.
    public var folder: ListedItem
    /// The number of entries that were passed on.
    public var entries: Int
    /// The server's clock when it answered, to the second.
    public var date: Timestamp?
    /// The first few entries that cannot be kept here. They are on the server.
    public var refused: [UnusableEntry]
    /// The number of all entries that cannot be kept here.
    public var refusedCount: Int
    /// The entries for which the server told an error instead of properties. They are on the server: the stored facts
    /// about them, and about everything below them, stay as they are.
    public var unknown: [ItemPath]
    /// Whether the folder itself is a calendar, an address book or a principal, whose contents are not told.
    public var isForeign: Bool
    /// The calendars, address books and principals in the folder. They are on the server, with contents that are not
    /// told.
    public var foreign: [ItemPath]
    /// The entries that the server named and then told to be missing, or of which it told nothing that an item has.
    public var leftOut: [ItemPath]
    /// Whether the answer had an entry more than one level below the folder. Without such an entry, `Depth.infinity`
    /// tells about direct children only, unless none of these is a folder with contents.
    public var reachesGrandchildren: Bool

    /// Creates the result of a listing.
    public init(
        folder: ListedItem, entries: Int = 0, date: Timestamp? = nil, refused: [UnusableEntry] = [],
        refusedCount: Int = 0, unknown: [ItemPath] = [], isForeign: Bool = false, foreign: [ItemPath] = [],
        leftOut: [ItemPath] = [], reachesGrandchildren: Bool = false
    ) {
        self.folder = folder
        self.entries = entries
        self.date = date
        self.refused = refused
        self.refusedCount = max(refusedCount, refused.count)
        self.unknown = unknown
        (self.isForeign, self.foreign, self.leftOut) = (isForeign, foreign, leftOut)
        self.reachesGrandchildren = reachesGrandchildren
    }

    /// What is in the folder, as far as the server names it, and is none of the entries: calendars, address books and
    /// principals, what was left out, and what the server told an error about.
    public var unlisted: [ItemPath] { foreign + leftOut + unknown }
}

import Database
public import Model

/// What a live query lists, and in which order. Equal queries share one list.
///
/// ```swift
/// var query = LiveQuery(.contents(of: ItemPath("/Photos")))
/// query.filters = [try ItemCondition(parsing: "type == 'file'")]
/// query.sort = .size
/// ```
public struct LiveQuery: Hashable, Sendable {
    /// What is listed.
    public enum Target: Hashable, Sendable {
        /// The contents of the folder at a path; a file that is there is listed itself.
        case contents(of: ItemPath)
        /// The item at a path, whichever it is.
        case item(at: ItemPath)
        /// The item with an id, wherever it is.
        case itemWithID(LocalID)
    }

    /// What is listed.
    public var target: Target
    /// Whether everything below the folder is listed, not only its direct contents.
    public var isRecursive = false
    /// Whether items are listed that are gone from the server but still known. They are also listed if a condition names
    /// `removed` or `removedAt`.
    public var includesRemoved = false
    /// The conditions that a listed item meets, all of them.
    public var filters: [ItemCondition] = []
    /// The property to sort by; nil sorts by path, byte by byte. Items that are equal in it are sorted by path, and then
    /// by local id.
    public var sort: Condition.Property?
    /// Whether the order of the property, or of the path, is descending.
    public var isDescending = false
    /// The highest number of items: the first ones in the order. Nil lists all.
    public var limit: Int?

    /// Creates a query of all items of a target.
    public init(_ target: Target) { self.target = target }

    /// The refusal of a reader too many.
    public static let tooMany = Failure(
        .vaultLocked, "there are as many readers of queries as there may be at a time", hint: "try again later")

    /// Whether the order or the listed items depend on policies or claims.
    var needsFacts: Bool { filters.contains { $0.plain == nil } }

    /// Whether removed items are listed.
    var listsRemoved: Bool {
        includesRemoved || filters.contains { $0.names(.removed) || $0.names(.removedAt) }
    }

    /// The column to sort by.
    var sortColumn: ItemColumn? {
        sort.flatMap { property in ItemColumn.allCases.first { "\($0)" == property.rawValue } }
    }

    /// Returns the listing of a folder's contents, without the conditions and the limit.
    func listing(of folder: ItemPath) -> ItemListing {
        var listing = ItemListing(folder: folder, isRecursive: isRecursive, includesRemoved: listsRemoved)
        (listing.sort, listing.isDescending) = (sortColumn, isDescending)
        return listing
    }

    /// Tells whether an item is among the contents of a folder, whatever the conditions say.
    func lists(_ item: Item, in folder: ItemPath) -> Bool {
        guard !item.path.isRoot, listsRemoved || !item.isRemoved else { return false }
        return isRecursive
            ? item.path.text.utf8.starts(with: folder.prefixOfItemsBelow.utf8) : item.path.parent == folder
    }
}

/// Whether the target of a live query is there.
public enum LiveQueryTarget: Hashable, Sendable {
    /// It is there. The root always is.
    case known
    /// It is not there, and the folder in which it would be is.
    case missing
    /// Neither it nor the folder in which it would be is there.
    case parentMissing
}

/// The order of a live query.
extension ItemSortKey {
    /// Tells whether an item with this key comes before one with another.
    func isBefore(_ other: ItemSortKey, in query: LiveQuery) -> Bool {
        if query.sort != nil {
            switch value.compared(to: other.value) {
            case 0: break
            case let order: return query.isDescending ? order > 0 : order < 0
            }
        }
        switch path.text.compared(to: other.path.text) {
        case 0: return localID.text.compared(to: other.localID.text) < 0
        case let order: return query.sort == nil && query.isDescending ? order > 0 : order < 0
        }
    }
}

extension ItemSortKey.Value {
    /// Returns a number below 0 if the value comes before another one, 0 if they are equal, and else one above 0.
    fileprivate func compared(to other: ItemSortKey.Value) -> Int {
        switch (self, other) {
        case (.null, .null): 0
        case (.number(let a), .number(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.text(let a), .text(let b)): a.compared(to: b)
        case (.null, _), (.number, .text): -1
        case (_, .null), (.text, .number): 1
        }
    }
}

extension String {
    /// Returns a number below 0 if the text comes before another one, byte by byte, 0 if they are equal, and else one
    /// above 0.
    fileprivate func compared(to other: String) -> Int {
        if utf8.elementsEqual(other.utf8) { return 0 }
        return utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1
    }
}

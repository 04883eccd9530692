import Database
import Model

/// The rows that a query reads, all of one state of the database.
protocol QueryRows {
    /// The anchor of the state.
    var anchor: Int64 { get }
    /// Returns the item at a path that is not removed.
    func item(at path: ItemPath) throws -> Item?
    /// Returns the item with an id, removed or not.
    func item(localID: LocalID) throws -> Item?
    /// Returns the item of a row, removed or not; nil if there is no such row.
    func item(_ row: ItemRowID) throws -> Item?
    /// Returns what a row is sorted by in the order of a column, or by the path; nil if there is no such row.
    func key(of row: ItemRowID, sortedBy column: ItemColumn?) throws -> ItemSortKey?
    /// Reads the items of a listing in its order.
    func each(_ listing: ItemListing, _ body: (Item) throws -> Void) throws
    /// Reads the numbers and the anchors of the items of a listing in its order.
    func eachID(_ listing: ItemListing, _ body: (ItemRowID, _ anchor: Int64) -> Void) throws
}

/// What changed between two states of the database.
struct QueryChanges: Sendable {
    /// The anchor of the state before.
    var after: Int64
    /// The items that were added or changed, as they are now.
    var changed: [Item] = [] {
        didSet {
            byFolder = Dictionary(grouping: changed.indices) { changed[$0].path.parent }
            byRow = Dictionary(changed.enumerated().map { ($0.element.databaseID, $0.offset) }) { $1 }
        }
    }
    /// The indices of ``changed`` by the folders in which the items are, and by their rows: many lists are brought up to
    /// date with the same changes, each of which concerns few.
    private var byFolder: [ItemPath: [Int]] = [:]
    private var byRow: [ItemRowID: Int] = [:]
    /// The rows that were deleted.
    var deleted: [Tombstone] = []
    /// Whether ``changed`` leaves something out, since it was too much, or is not known any more.
    var isCut = false
    /// The rows that did not change, and of which policies, shares or claims show something else.
    var shown: Set<ItemRowID> = []
    /// Whether policies or claims changed.
    var changesFacts = false

    /// Creates changes that name nothing.
    init(after: Int64) { self.after = after }

    /// Tells whether a row may have changed.
    func mayName(_ row: ItemRowID) -> Bool {
        isCut || byRow[row] != nil || deleted.contains { $0.databaseID == row }
    }

    /// Returns the changed items that are directly in a folder, or have been.
    /// - Parameter order: The rows that were in the folder's list.
    func concerning(_ folder: ItemPath, listed order: QueryOrder) -> [Item] {
        var places = Set(byFolder[folder] ?? [])
        if order.count < byRow.count {
            for row in order.ids { if let place = byRow[row] { places.insert(place) } }
        } else {
            for (row, place) in byRow where order.position(of: row) != nil { places.insert(place) }
        }
        return places.sorted().map { changed[$0] }
    }
}

/// The rows of a state of the database.
struct StoredRows: QueryRows {
    let reads: ReadTransaction
    let anchor: Int64

    init(_ reads: ReadTransaction) throws {
        self.reads = reads
        anchor = try reads.tombstones.position().anchor
    }

    func item(at path: ItemPath) throws -> Item? { try reads.items.item(at: path) }
    func item(localID: LocalID) throws -> Item? { try reads.items.item(localID: localID) }
    func item(_ row: ItemRowID) throws -> Item? { try reads.items.item(databaseID: row) }

    func key(of row: ItemRowID, sortedBy column: ItemColumn?) throws -> ItemSortKey? {
        try reads.items.sortKey(of: row, by: column)
    }

    func each(_ listing: ItemListing, _ body: (Item) throws -> Void) throws {
        try reads.items.each(listing) {
            try body($0)
            return true
        }
    }

    func eachID(_ listing: ItemListing, _ body: (ItemRowID, _ anchor: Int64) -> Void) throws {
        try reads.items.eachRow(listing, body)
    }

    /// Returns what changed after an anchor.
    func changes(after anchor: Int64) throws -> QueryChanges {
        var changes = QueryChanges(after: anchor)
        changes.deleted = try reads.tombstones.after(anchor)
        let most = QueryMachine.mostChanges
        changes.isCut =
            try reads.items.changedCount(after: anchor, limit: most + 1) > most || anchor < reads.tombstones.floor()
        if !changes.isCut {
            var changed: [Item] = []
            try reads.items.changed(after: anchor) {
                changed.append($0.item)
                return true
            }
            changes.changed = changed
        }
        return changes
    }
}

import Database
import Model

/// The list of a live query as a value: rows and their changes go in, and change sets come out. It does no I/O of its own,
/// keeps the ids of the list in their order alone, and reads the rows that changed and some twenty more for each.
struct QueryMachine: Sendable {
    /// The number of changed rows beyond which the list is read anew.
    static let mostChanges = 10_000

    /// What is listed.
    private(set) var query: LiveQuery
    /// The anchor of the state that the list shows.
    private(set) var anchor: Int64 = 0
    /// Whether the target is there.
    private(set) var target = LiveQueryTarget.missing
    /// The ids of all that meets the query, without its limit.
    private var order = QueryOrder()
    /// The row of the target, and its path and kind; nil while there is none.
    private var found: Found?
    private var filters: [Filter] = []
    private var turns = QueryTurns()
    /// The time for which the list was read, or brought to another state, last.
    private var last = Timestamp(nanoseconds: .min)

    /// What the target comes to.
    private struct Found: Hashable, Sendable {
        var row: ItemRowID
        var path: ItemPath
        var isFolder: Bool
        /// Whether the target's item is listed itself.
        var isItself: Bool
    }

    /// A condition as it is evaluated.
    private struct Filter: Sendable {
        var matcher: ConditionMatcher
        /// Whether the result may change by time alone.
        var isTimed: Bool
    }

    /// Creates a list, and reads it.
    /// - Parameter facts: Returns the policies and claims of the state that `rows` reads.
    init(_ query: LiveQuery, _ rows: some QueryRows, now: Timestamp, facts: () throws -> ConditionFacts) throws {
        self.query = query
        try readAnew(rows, now, facts)
    }

    /// The ids of the listed items in their order.
    var ids: [ItemRowID] { query.limit.map { Array(order.ids.prefix($0)) } ?? order.ids }
    /// The number of listed items.
    var count: Int { min(order.count, query.limit ?? .max) }
    /// The next moment at which the list may change by time alone; nil if there is none.
    var nextTurn: Timestamp? { turns.next }

    /// Returns the ids of some of the listed items in their order.
    /// - Parameters:
    ///   - position: The position of the first one, at most ``count``.
    ///   - most: The largest number of ids.
    func ids(from position: Int, most: Int) -> [ItemRowID] {
        order.ids(in: position..<min(position + most, count))
    }

    // MARK: Changes

    /// Brings the list to a later state.
    /// - Parameters:
    ///   - changes: What changed after an anchor that is at most the list's. It may name more than concerns the query.
    ///   - query: What is listed from now on, if the conditions, the order or the limit change.
    ///   - rows: The rows of the later state.
    ///   - facts: Returns the policies and claims of the later state.
    /// - Returns: What changed in the list.
    mutating func advance(
        _ changes: QueryChanges, to query: LiveQuery? = nil, _ rows: some QueryRows, now: Timestamp,
        facts: () throws -> ConditionFacts
    ) throws -> ChangeSet {
        let (next, query) = (query, self.query)
        let deleted = Set(changes.deleted.lazy.filter { [anchor] in $0.anchor > anchor }.map(\.databaseID))
        let due = turns.takeDue(at: now)
        let isSetBack = now < last && filters.contains(where: \.isTimed)
        last = now
        // The target is where it was if its row did not change.
        let found = try self.found.flatMap { changes.mayName($0.row) ? nil : $0 } ?? find(rows)
        let mustRead =
            next != nil || isSetBack || changes.isCut || changes.changed.count > Self.mostChanges || found != self.found
            || found?.isItself != false
            || (changes.changesFacts && query.needsFacts) || (turns.horizon.map { $0 <= now } ?? false)
        guard !mustRead, let folder = found?.path else {
            return try difference(changes.shown) {
                if let next { $0.query = next }
                return try $0.readAnew(rows, now, facts)
            }
        }
        let all = query.isRecursive ? changes.changed : changes.concerning(folder, listed: order)
        let changed = all.filter { $0.anchor > anchor }
        let named = Set(changed.lazy.map(\.databaseID))
        let turned = try Set(due).subtracting(named).compactMap { try rows.item($0) }
        let before = order.count
        let concerned = named.union(deleted).union(turned.lazy.map(\.databaseID))
        // Rows whose keys changed are in no order with the others any more.
        var old: [ItemRowID: Int] = [:]
        for row in concerned { old[row] = order.position(of: row) }
        for row in old.keys { order.remove(row) }
        var coming: [(row: ItemRowID, key: ItemSortKey)] = []
        for item in changed + turned where query.lists(item, in: folder) && meets(item, now) {
            guard let key = try rows.key(of: item.databaseID, sortedBy: query.sortColumn) else { continue }
            coming.append((item.databaseID, key))
        }
        coming.sort { $0.key.isBefore($1.key, in: query) }
        let set = try insert(
            coming, old, onlyIfMoved: Set(turned.lazy.map(\.databaseID)),
            shown: changes.shown.subtracting(concerned), rows)
        anchor = rows.anchor
        return query.limit.map { set.clipped(to: $0, old: before, new: order) } ?? set
    }

    /// Puts rows into the list, from which all changed ones were taken out.
    /// - Parameters:
    ///   - coming: The rows that are in the list from now on, in its order.
    ///   - old: The places that the rows had.
    ///   - quiet: The rows that are as they were.
    private mutating func insert(
        _ coming: [(row: ItemRowID, key: ItemSortKey)], _ old: [ItemRowID: Int],
        onlyIfMoved quiet: Set<ItemRowID>, shown: Set<ItemRowID>, _ rows: some QueryRows
    ) throws -> ChangeSet {
        var set = ChangeSet()
        let left = old.values.sorted()
        // The rows that stay where they were, between the same others and in the same order among themselves.
        var last = -1
        var staying: Set<ItemRowID> = []
        let size = order.count
        for (count, (row, key)) in coming.enumerated() {
            let rank = try rank(of: key, in: size, after: count, rows)
            order.insert(row, at: rank + count)
            if let position = old[row], position - left.partitioningIndex(where: { $0 >= position }) == rank,
                position > last
            {
                last = position
                staying.insert(row)
                if !quiet.contains(row) { set.updates.append(.init(row, at: rank + count)) }
            } else {
                set.insertions.append(.init(row, at: rank + count))
            }
        }
        set.removals = old.filter { !staying.contains($0.key) }
            .map { ChangeSet.Entry($0.key, at: $0.value) }
            .sorted { $0.position < $1.position }
        for row in shown {
            if let position = order.position(of: row) { set.updates.append(.init(row, at: position)) }
        }
        set.updates.sort { $0.position < $1.position }
        return set
    }

    /// Returns the number of rows, of those that did not change, that come before a key.
    /// - Parameters:
    ///   - size: The number of those rows.
    ///   - count: How many rows were put in already. They all come before the key.
    private func rank(of key: ItemSortKey, in size: Int, after count: Int, _ rows: some QueryRows) throws -> Int {
        try (0..<size + count).partitioningIndex { position in
            // A row that vanished without a word is taken for a later one; the list is read anew when it is named.
            guard let other = try rows.key(of: order.id(at: position), sortedBy: query.sortColumn) else { return true }
            return key.isBefore(other, in: query)
        } - count
    }

    // MARK: Reading

    /// Returns what reading anew changed in the list.
    private mutating func difference(
        _ shown: Set<ItemRowID>, _ read: (inout QueryMachine) throws -> Set<ItemRowID>
    ) throws -> ChangeSet {
        let before = ids
        let changed = try read(&self)
        return ChangeSet(from: before, to: ids) { changed.contains($0) || shown.contains($0) }
    }

    /// Reads the list.
    /// - Returns: The rows that changed after the list's anchor.
    @discardableResult
    private mutating func readAnew(
        _ rows: some QueryRows, _ now: Timestamp, _ facts: () throws -> ConditionFacts
    ) throws -> Set<ItemRowID> {
        filters = try query.filters.map {
            let condition = try $0.resolved(by: facts)
            return Filter(matcher: ConditionMatcher(condition), isTimed: condition.dependsOnTime)
        }
        turns = QueryTurns()
        found = try find(rows)
        var (ids, changed): ([ItemRowID], Set<ItemRowID>) = ([], [])
        let before = anchor
        if let found, found.isItself {
            if let item = try rows.item(found.row), meets(item, now) {
                ids = [item.databaseID]
                if item.anchor > before { changed = [item.databaseID] }
            }
        } else if let folder = found?.path {
            var listing = query.listing(of: folder)
            if filters.contains(where: \.isTimed) {
                try rows.each(listing) { item in
                    guard meets(item, now) else { return }
                    ids.append(item.databaseID)
                    if item.anchor > before { changed.insert(item.databaseID) }
                }
            } else {
                if !filters.isEmpty { listing.condition = (.allOf(filters.map(\.matcher.condition)), now) }
                try rows.eachID(listing) { row, anchor in
                    ids.append(row)
                    if anchor > before { changed.insert(row) }
                }
            }
        }
        order = QueryOrder(ids)
        anchor = rows.anchor
        return changed
    }

    /// Looks where the target is, and notes whether it is there.
    private mutating func find(_ rows: some QueryRows) throws -> Found? {
        let item: Item?
        var path: ItemPath?
        switch query.target {
        case .contents(let wanted), .item(let wanted): (item, path) = (try rows.item(at: wanted), wanted)
        case .itemWithID(let id):
            item = try rows.item(localID: id).flatMap { $0.isRemoved && !query.listsRemoved ? nil : $0 }
        }
        let isItself = if case .contents = query.target { item?.kind == .file } else { true }
        if let path, path.isRoot, !isItself {
            target = .known
            return Found(row: item?.databaseID ?? ItemRowID(0), path: path, isFolder: true, isItself: false)
        }
        guard let item else {
            let hasParent = try path.map { try $0.parent.isRoot || rows.item(at: $0.parent) != nil } ?? true
            target = hasParent ? .missing : .parentMissing
            return nil
        }
        target = .known
        return Found(row: item.databaseID, path: item.path, isFolder: item.kind == .folder, isItself: isItself)
    }

    /// Tells whether an item meets the conditions, and notes when that changes by time alone.
    private mutating func meets(_ item: Item, _ now: Timestamp) -> Bool {
        var isMet = true
        for filter in filters {
            if !filter.matcher.matches(item, now: now) { isMet = false }
            if filter.isTimed, let change = filter.matcher.condition.nextChange(for: item, after: now) {
                turns.add(item.databaseID, at: change.first)
            }
        }
        return isMet
    }
}

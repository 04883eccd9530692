import LocalTree
import Model
import TestSupport

@testable import Core
@testable import Database

/// A random course: items that come, change, move and go, live queries on them, and readers that apply change sets, some
/// of them late. What a reader has must be what a fresh list has.
struct QueryModel {
    /// What was wrong; empty if nothing was.
    private(set) var findings: [String] = []
    /// The kinds of changes that readers have applied.
    private(set) var reached: Set<String> = []

    private var random: SeededGenerator
    private var items: [ItemRowID: Item] = [:]
    private var deleted: [Tombstone] = []
    private var anchor: Int64 = 0
    private var lastRow: Int64 = 0
    private var now = Timestamp(seconds: 1_000)
    private var pinned: [String] = []
    private var lists: [List] = []

    /// A row of a reader's list, with what shows whether it is up to date.
    private struct Row: Hashable {
        var id: ItemRowID
        var localID: LocalID
        var anchor: Int64

        init(_ item: Item) { (id, localID, anchor) = (item.databaseID, item.localID, item.anchor) }
        init(_ item: Tombstone) { (id, localID, anchor) = (item.databaseID, item.localID, item.anchor) }
    }

    private struct Reader {
        var rows: [Row] = []
        /// Few items are told at once, and few changes are kept, so that both limits are reached.
        var backlog: QueryBacklog
    }

    private struct List {
        var machine: QueryMachine
        var readers: [Reader]
    }

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func run(steps: Int) {
        for _ in 0..<6 { commit() }
        for step in 0..<steps where findings.isEmpty {
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8: commit()
            case 8: begin()
            case 9: drop()
            case 10: change(step)
            case 11: now = now + .seconds(Int.random(in: 0..<40, using: &random))
            case 12..<17: advance(step)
            default: read(step)
            }
        }
        for index in lists.indices {
            advance(index, to: nil, "end")
            for reader in lists[index].readers.indices { read(reader, of: index, most: .max, "end") }
        }
    }

    // MARK: Items

    private static let folders = ["/a", "/b", "/a/x", "/a/x/y"]

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    /// Changes some items in one transaction.
    private mutating func commit() {
        anchor += 1
        for _ in 0..<Int.random(in: 1...4, using: &random) { changeOne() }
        if chance(12), let folder = Self.folders.randomElement(using: &random) {
            // The lists hear of the policies at their next step.
            if pinned.contains(folder) { pinned.removeAll { $0 == folder } } else { pinned.append(folder) }
        }
    }

    private mutating func changeOne() {
        guard let item = items.values.sorted(by: { $0.databaseID < $1.databaseID }).randomElement(using: &random),
            !chance(4)
        else { return add() }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            var changed = item
            changed.size = [nil, 1, 2, 3, 300].randomElement(using: &random) ?? nil
            changed.isFavorite = Bool.random(using: &random)
            changed.lastModified = chance(3) ? nil : now + .seconds(Int.random(in: -60..<30, using: &random))
            write(changed)
        case 4, 5: move(item)
        case 6, 7: remove(item)
        case 8:
            guard item.isRemoved, self.item(at: item.path) == nil else { return }
            var changed = item
            changed.removedAt = nil
            write(changed)
        default: delete(item)
        }
    }

    private func item(at path: ItemPath) -> Item? { items.values.first { $0.path == path && !$0.isRemoved } }

    private mutating func write(_ item: Item) {
        var item = item
        item.anchor = anchor
        items[item.databaseID] = item
    }

    private mutating func newPath() -> (String, Item.Kind) {
        if chance(3), let folder = Self.folders.randomElement(using: &random) { return (folder, .folder) }
        let folder = (Self.folders + [""]).randomElement(using: &random) ?? ""
        return (folder + "/" + (["n", "é", "A", "zz", "%41"].randomElement(using: &random) ?? ""), .file)
    }

    private mutating func add() {
        let (path, kind) = newPath()
        guard item(at: ItemPath(unchecked: path)) == nil else { return }
        var item = kind == .file ? fileItem(path) : folderItem(path)
        item.localID = LocalID("l\(random.next() % 10_000)-\(anchor)-\(items.count)")
        lastRow += 1
        item.databaseID = ItemRowID(lastRow)
        item.size = Int64.random(in: 0..<4, using: &random)
        write(item)
    }

    private func below(_ item: Item) -> [Item] {
        items.values.filter { $0.path.text.hasPrefix(item.path.text + "/") && !$0.isRemoved }
    }

    private mutating func move(_ item: Item) {
        let (path, _) = newPath()
        let target = ItemPath(unchecked: path)
        guard !item.isRemoved, self.item(at: target) == nil, !path.hasPrefix(item.path.text + "/") else { return }
        for one in below(item) + [item] {
            var changed = one
            changed.path = one.databaseID == item.databaseID ? target : one.path.moved(from: item.path, to: target)
            write(changed)
        }
    }

    private mutating func remove(_ item: Item) {
        guard !item.isRemoved else { return }
        for one in below(item) + [item] {
            var changed = one
            changed.removedAt = now
            write(changed)
        }
    }

    private mutating func delete(_ item: Item) {
        for one in (item.isRemoved ? [] : below(item)) + [item] {
            items[one.databaseID] = nil
            deleted.append(
                Tombstone(
                    number: 0, databaseID: one.databaseID, localID: one.localID, path: one.path, kind: one.kind,
                    anchor: anchor))
        }
    }

    // MARK: Queries

    private static let conditions = [
        "size > 1", "favorite", "type == 'file'", "name.startsWith('n')", "lastModified < now - duration('20s')",
        "lastModified >= now - duration('1m') && lastModified < now", "removed", "availableOffline == 'indirect'",
        "availableOffline == 'none' && !(lastModified > now)", "size != null || favorite",
    ]

    private mutating func query(_ target: LiveQuery.Target? = nil) -> LiveQuery {
        let paths = (Self.folders + ["/", "/a/n", "/b/é", "/none/at/all"]).map { ItemPath(unchecked: $0) }
        let path = paths.randomElement(using: &random) ?? .root
        let targets: [LiveQuery.Target] =
            [.contents(of: path), .contents(of: path), .contents(of: .root), .item(at: path)]
            + items.values.map(\.localID).sorted { $0.text < $1.text }.prefix(1).map { .itemWithID($0) }
        var query = LiveQuery(target ?? targets.randomElement(using: &random) ?? .contents(of: .root))
        query.isRecursive = !chance(3)
        query.includesRemoved = chance(4)
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            let text = Self.conditions.randomElement(using: &random) ?? "favorite"
            do { query.filters.append(try ItemCondition(parsing: text)) } catch {
                findings.append("\(text): \(error)")
            }
        }
        query.sort = [nil, .size, .name, .lastModified, .favorite, .type].randomElement(using: &random) ?? nil
        query.isDescending = chance(2)
        query.limit = chance(2) ? [0, 1, 2, 3, 5].randomElement(using: &random) : nil
        return query
    }

    private var facts: ConditionFacts {
        let policies = pinned.map { path in
            let path = ItemPath(unchecked: path)
            let condition = Condition.at(orBelow: path)
            var policy = ItemPolicy(kind: .availableOffline, condition: condition.text)
            policy.path = path
            return (policy: policy, condition: condition)
        }
        return ConditionFacts(policies: policies, claims: [], world: .current(now: now))
    }

    /// What a list must hold, computed from all items.
    private func fresh(_ query: LiveQuery) throws -> [Item] {
        let showsRemoved = query.includesRemoved || query.filters.contains { $0.text.contains("removed") }
        var found: [Item]
        switch query.target {
        case .itemWithID(let id):
            found = items.values.filter { $0.localID == id && (showsRemoved || !$0.isRemoved) }
        case .item(let path): found = [item(at: path)].compactMap(\.self)
        case .contents(let folder):
            let itself = item(at: folder)
            if let itself, itself.kind == .file {
                found = [itself]
            } else if itself == nil, !folder.isRoot {
                found = []
            } else {
                found = items.values.filter { item in
                    let parent = String(item.path.text.prefix(item.path.text.count - item.path.name.count - 1))
                    let own = folder.isRoot ? "" : folder.text
                    return (showsRemoved || !item.isRemoved)
                        && (query.isRecursive ? (parent + "/").hasPrefix(own + "/") : parent == own)
                }
            }
        }
        for filter in query.filters {
            let condition = filter.resolved { facts }
            found = found.filter { condition.matches($0, now: now) }
        }
        func value(_ item: Item) -> [UInt8] {
            func number(_ value: Int64?) -> [UInt8] {
                guard let value else { return [0] }
                return [1] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: (value ^ .min) >> ($0 * 8)) }
            }
            return switch query.sort {
            case .size: number(item.size)
            case .name: Array(item.path.name.utf8)
            case .lastModified: number(item.lastModified?.nanoseconds)
            case .favorite: [item.isFavorite ? 1 : 0]
            case .type: [item.kind == .folder ? 1 : 0]
            default: Array(item.path.text.utf8)
            }
        }
        found.sort { a, b in
            let (left, right) = (value(a), value(b))
            if left != right { return left.lexicographicallyPrecedes(right) != query.isDescending }
            if a.path != b.path { return a.path.text.utf8.lexicographicallyPrecedes(b.path.text.utf8) }
            return a.localID.text.utf8.lexicographicallyPrecedes(b.localID.text.utf8)
        }
        return Array(found.prefix(query.limit ?? .max))
    }

    private mutating func begin() {
        let query = query()
        do {
            let machine = try QueryMachine(query, rows, now: now) { facts }
            let rows = try fresh(query).map(Row.init)
            if machine.ids != rows.map(\.id) { findings.append("begun with \(machine.ids), not \(rows)") }
            lists.append(
                List(
                    machine: machine,
                    readers: [
                        Reader(backlog: QueryBacklog()), Reader(backlog: QueryBacklog(mostAtOnce: 3, mostPending: 12)),
                        Reader(backlog: QueryBacklog(mostAtOnce: 1)),
                    ]))
        } catch {
            findings.append("\(error)")
        }
    }

    private mutating func drop() {
        guard lists.count > 3, let index = lists.indices.randomElement(using: &random) else { return }
        lists.remove(at: index)
    }

    private mutating func change(_ step: Int) {
        guard let index = lists.indices.randomElement(using: &random) else { return }
        advance(index, to: query(lists[index].machine.query.target), "step \(step), another query")
    }

    private mutating func advance(_ step: Int) {
        guard let index = lists.indices.randomElement(using: &random) else { return }
        advance(index, to: nil, "step \(step)")
    }

    private mutating func advance(_ index: Int, to query: LiveQuery?, _ when: String) {
        let before = lists[index].machine
        var changes = QueryChanges(after: max(0, before.anchor - Int64.random(in: 0..<3, using: &random)))
        changes.changed = items.values.filter { $0.anchor > changes.after }.sorted { $0.anchor < $1.anchor }
        changes.deleted = deleted.filter { $0.anchor > changes.after }
        changes.changesFacts = true
        if chance(8) { (changes.isCut, changes.changed) = (true, []) }
        if chance(4) { changes.shown = Set(items.keys.filter { $0.number % 3 == 0 }) }
        do {
            var machine = before
            let facts = facts
            let set = try machine.advance(changes, to: query, rows, now: now) { facts }
            lists[index].machine = machine
            let wanted = try fresh(machine.query)
            let told = "\(when): \(machine.query) at \(machine.anchor)"
            if machine.ids != wanted.map(\.databaseID) {
                findings.append("\(told): \(machine.ids), not \(wanted.map(\.databaseID)); \(set)")
            }
            if set.applied(to: before.ids) != machine.ids { findings.append("\(told): \(set) makes no \(machine.ids)") }
            for update in set.updates {
                guard let item = items[update.id], item.anchor > before.anchor || changes.shown.contains(update.id)
                else {
                    findings.append("\(told): \(update) did not change")
                    continue
                }
                let position = set.oldPosition(of: update.position)
                if before.ids.count <= position || before.ids[position] != update.id {
                    findings.append(
                        "\(told): \(update) was not at \(position) of \(before.ids), now \(machine.ids): \(set)")
                }
            }
            for reader in lists[index].readers.indices {
                lists[index].readers[reader].backlog.note(set, machine, nil)
            }
            // The first reader reads all at once.
            read(0, of: index, most: .max, when)
        } catch {
            findings.append("\(error)")
        }
    }

    // MARK: Readers

    private mutating func read(_ step: Int) {
        guard let index = lists.indices.randomElement(using: &random) else { return }
        let most = Int.random(in: 1..<8, using: &random)
        read(Int.random(in: 1...2, using: &random), of: index, most: most, "step \(step)")
    }

    /// Has a reader take what it is told.
    /// - Parameter most: How often it takes something.
    private mutating func read(_ reader: Int, of index: Int, most: Int, _ when: String) {
        let machine = lists[index].machine
        // The rows of the list's state are gone once they change; a real reader gets what is there, and hears of it later.
        guard machine.anchor == anchor else { return }
        lists[index].readers[reader].backlog.state = .idle
        for _ in 0..<most {
            lists[index].readers[reader].backlog.fill(from: machine)
            guard findings.isEmpty, let told = lists[index].readers[reader].backlog.take() else { break }
            if told.isAnew { reached.insert("anew") }
            apply(told, to: reader, of: index, when)
        }
        lists[index].readers[reader].backlog.fill(from: machine)
        guard !lists[index].readers[reader].backlog.hasNews else {
            reached.insert("in part")
            return
        }
        let rows = lists[index].readers[reader].rows
        if let wanted = try? fresh(machine.query).map(Row.init), machine.nextTurn.map({ $0 > now }) ?? true,
            rows != wanted
        {
            findings.append("\(when), reader \(reader): \(machine.query) at \(machine.anchor): \(rows), not \(wanted)")
        }
        reached.insert("\(machine.target)")
    }

    private mutating func apply(_ part: QueryBacklog.Told, to reader: Int, of index: Int, _ when: String) {
        let machine = lists[index].machine
        let set = part.set
        var rows = part.isAnew ? [] : lists[index].readers[reader].rows
        let told = "\(when), reader \(reader): \(machine.query) at \(machine.anchor): \(set)"
        let moved = set.moved
        var taken: [ItemRowID: Row] = [:]
        for entry in set.removals.reversed() {
            guard entry.position < rows.count, rows[entry.position].id == entry.id else {
                findings.append("\(told): \(entry) is not there in \(rows)")
                return
            }
            taken[entry.id] = rows.remove(at: entry.position)
        }
        for entry in set.insertions {
            // What is gone meanwhile is taken out again.
            guard entry.position <= rows.count,
                let item = items[entry.id].map(Row.init)
                    ?? deleted.last(where: { $0.databaseID == entry.id }).map(Row.init)
            else {
                findings.append("\(told): \(entry) cannot come to \(rows)")
                return
            }
            if moved.contains(entry.id), let old = taken[entry.id], old.localID != item.localID {
                findings.append("\(told): \(entry) is another item than the one that was taken out")
            }
            rows.insert(item, at: entry.position)
        }
        for entry in set.updates {
            guard entry.position < rows.count, rows[entry.position].id == entry.id,
                let item = items[entry.id].map(Row.init)
                    ?? deleted.last(where: { $0.databaseID == entry.id }).map(Row.init)
            else {
                findings.append("\(told): \(entry) is not there in \(rows)")
                return
            }
            if rows[entry.position].localID != item.localID { findings.append("\(told): \(entry) is another item") }
            rows[entry.position] = item
        }
        if !set.removals.isEmpty { reached.insert("removed") }
        if set.insertions.contains(where: { !moved.contains($0.id) }) { reached.insert("inserted") }
        if !set.updates.isEmpty { reached.insert("updated") }
        if !moved.isEmpty { reached.insert("moved") }
        if (part.state == .idle)
            != (lists[index].readers[reader].backlog.isWhole && !lists[index].readers[reader].backlog.hasNews)
        {
            findings.append("\(told): the list counts as \(part.state)")
        }
        lists[index].readers[reader].rows = rows
    }

    private var rows: ModelRows { ModelRows(items: items, anchor: anchor) }
}

/// The items of the model as rows.
private struct ModelRows: QueryRows {
    let items: [ItemRowID: Item]
    let anchor: Int64

    func item(at path: ItemPath) -> Item? { items.values.first { $0.path == path && !$0.isRemoved } }
    func item(localID: LocalID) -> Item? { items.values.first { $0.localID == localID } }
    func item(_ row: ItemRowID) -> Item? { items[row] }

    func key(of row: ItemRowID, sortedBy column: ItemColumn?) -> ItemSortKey? {
        guard let item = items[row] else { return nil }
        func number(_ value: Int64?) -> ItemSortKey.Value { value.map { .number($0) } ?? .null }
        let value: ItemSortKey.Value =
            switch column {
            case .size: number(item.size)
            case .name: .text(item.path.name)
            case .lastModified: number(item.lastModified?.nanoseconds)
            case .favorite: .number(item.isFavorite ? 1 : 0)
            case .type: .number(Int64(item.kind.rawValue))
            default: .null
            }
        return ItemSortKey(value: value, path: item.path, localID: item.localID)
    }

    func each(_ listing: ItemListing, _ body: (Item) throws -> Void) throws {
        var query = LiveQuery(.contents(of: listing.folder))
        (query.isRecursive, query.includesRemoved) = (listing.isRecursive, listing.includesRemoved)
        query.sort = listing.sort.flatMap { Condition.Property(rawValue: "\($0)") }
        query.isDescending = listing.isDescending
        var found = items.values.filter { query.lists($0, in: listing.folder) }
        if let (condition, now) = listing.condition { found = found.filter { condition.matches($0, now: now) } }
        let keyed = found.compactMap { item in key(of: item.databaseID, sortedBy: listing.sort).map { (item, $0) } }
        for (item, _) in keyed.sorted(by: { $0.1.isBefore($1.1, in: query) }) { try body(item) }
    }

    func eachID(_ listing: ItemListing, _ body: (ItemRowID, _ anchor: Int64) -> Void) throws {
        try each(listing) { body($0.databaseID, $0.anchor) }
    }
}

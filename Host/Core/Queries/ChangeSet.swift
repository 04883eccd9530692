import Model

/// The difference between two states of a list: what to take out of the old one, and what to put in and to renew in the
/// new one.
///
/// The ids at ``removals`` are taken out, by their positions in the old list. Then those at ``insertions`` are put in, in
/// ascending order, each at its position in the new list. What the two lists share keeps its order. An id that is in both is
/// an item that moved.
///
/// ```swift
/// // [a, b, c] becomes [c, d, a], and c was changed
/// ChangeSet(
///     removals: [.init(a, at: 0), .init(b, at: 1)], insertions: [.init(d, at: 1), .init(a, at: 2)],
///     updates: [.init(c, at: 0)])
/// ```
struct ChangeSet: Hashable, Sendable {
    /// An id at a position in a list.
    struct Entry: Hashable, Sendable {
        var position: Int
        var id: ItemRowID

        init(_ id: ItemRowID, at position: Int) {
            (self.id, self.position) = (id, position)
        }
    }

    /// What leaves the list, by the positions in the old list, in ascending order.
    var removals: [Entry] = []
    /// What comes into the list, by the positions in the new list, in ascending order.
    var insertions: [Entry] = []
    /// What stays in the list and changed, by the positions in the new list, in ascending order.
    var updates: [Entry] = []

    var isEmpty: Bool { removals.isEmpty && insertions.isEmpty && updates.isEmpty }
    /// The number of ids that the set names.
    var count: Int { removals.count + insertions.count + updates.count }

    /// The ids that are taken out and put in elsewhere.
    var moved: Set<ItemRowID> {
        removals.isEmpty ? [] : Set(removals.lazy.map(\.id)).intersection(insertions.lazy.map(\.id))
    }

    /// Returns the position in the old list of an id that stays, by its position in the new one.
    func oldPosition(of position: Int) -> Int {
        removals.position(ofRank: insertions.rank(of: position))
    }

    /// Returns the list that an old one becomes.
    func applied(to old: [ItemRowID]) -> [ItemRowID] {
        var list = old
        for entry in removals.reversed() { list.remove(at: entry.position) }
        for entry in insertions { list.insert(entry.id, at: entry.position) }
        return list
    }

    /// Returns the set that has the effect of this one and of one that follows.
    func followed(by next: ChangeSet) -> ChangeSet {
        var whole = ChangeSet()
        let inserted = Set(insertions.lazy.map(\.position))
        let left = Set(next.removals.lazy.map(\.position))
        let earlier = next.removals.lazy.filter { !inserted.contains($0.position) }.map { entry in
            Entry(entry.id, at: removals.position(ofRank: insertions.rank(of: entry.position)))
        }
        whole.removals = (removals + earlier).sorted { $0.position < $1.position }
        func moved(_ entry: Entry) -> Entry {
            Entry(entry.id, at: next.insertions.position(ofRank: next.removals.rank(of: entry.position)))
        }
        let staying = insertions.lazy.filter { !left.contains($0.position) }.map(moved)
        whole.insertions = (next.insertions + staying).sorted { $0.position < $1.position }
        let isNew = Set(whole.insertions.lazy.map(\.position))
        let renewed = Set(next.updates.lazy.map(\.position))
        whole.updates =
            (next.updates.filter { !isNew.contains($0.position) }
            + updates.lazy.filter { !left.contains($0.position) }.map(moved).filter { !renewed.contains($0.position) })
            .sorted { $0.position < $1.position }
        return whole
    }

    /// Returns the set for those first items of the list alone that somebody has who is to be told the others.
    /// - Parameter count: The number of these items in the old list.
    /// - Returns: The set, and the number of items of the new list that are told afterwards. What comes behind the last
    ///   one of those that stay is not.
    func clipped(toFirst count: Int) -> (set: ChangeSet, count: Int) {
        var first = ChangeSet()
        first.removals = Array(removals.prefix { $0.position < count })
        let staying = count - first.removals.count
        let left = staying == 0 ? 0 : insertions.position(ofRank: staying - 1) + 1
        first.insertions = Array(insertions.prefix { $0.position < left })
        first.updates = Array(updates.prefix { $0.position < left })
        return (first, left)
    }

    /// Takes some changes out. Told first, they leave the rest as what remains to be told.
    /// - Parameter most: The largest number of changes.
    mutating func takeFirst(_ most: Int) -> ChangeSet {
        guard count > most else {
            defer { self = ChangeSet() }
            return self
        }
        var first = ChangeSet()
        if !removals.isEmpty {
            // The positions of those before stay as they are.
            first.removals = Array(removals.suffix(most))
            removals.removeLast(first.removals.count)
        } else if !insertions.isEmpty {
            first.insertions = Array(insertions.prefix(most))
            insertions.removeFirst(first.insertions.count)
        } else {
            first.updates = Array(updates.prefix(most))
            updates.removeFirst(first.updates.count)
        }
        return first
    }

    /// Returns the set for the first items of the list alone.
    /// - Parameters:
    ///   - limit: How many items of each state count.
    ///   - old: The number of items in the old list.
    ///   - new: The new list.
    func clipped(to limit: Int, old: Int, new: QueryOrder) -> ChangeSet {
        var first = ChangeSet()
        first.removals = Array(removals.prefix { $0.position < limit })
        first.insertions = Array(insertions.prefix { $0.position < limit })
        // What neither left nor came has one order before and after.
        let before = min(limit, old) - first.removals.count
        let after = min(limit, new.count) - first.insertions.count
        if before > after {
            first.removals += (after..<before).map { rank in
                let id = new.id(at: insertions.position(ofRank: rank))
                return Entry(id, at: removals.position(ofRank: rank))
            }
            first.removals.sort { $0.position < $1.position }
        } else if after > before {
            first.insertions += (before..<after).map { rank in
                let position = insertions.position(ofRank: rank)
                return Entry(new.id(at: position), at: position)
            }
            first.insertions.sort { $0.position < $1.position }
        }
        let staying = min(before, after)
        first.updates = updates.filter { insertions.rank(of: $0.position) < staying }
        return first
    }
}

extension ChangeSet {
    /// Creates the set that makes one list of another. Few items count as moved: those outside of a longest part that
    /// has the same order in both.
    /// - Parameter changed: Tells whether an item that is in both lists changed.
    init(from old: [ItemRowID], to new: [ItemRowID], changed: (ItemRowID) -> Bool) {
        var positions = [ItemRowID: Int](minimumCapacity: old.count)
        for (position, id) in old.enumerated() { positions[id] = position }
        let shared = new.indices.filter { positions[new[$0]] != nil }
        let staying = Set(Self.longestRise(shared.map { positions[new[$0]] ?? 0 }).map { shared[$0] })
        let kept = Set(staying.map { new[$0] })
        removals = old.indices.filter { !kept.contains(old[$0]) }.map { Entry(old[$0], at: $0) }
        insertions = new.indices.filter { !staying.contains($0) }.map { Entry(new[$0], at: $0) }
        updates = new.indices.filter { staying.contains($0) && changed(new[$0]) }.map { Entry(new[$0], at: $0) }
    }

    /// Returns the indices of a longest ascending part of different numbers.
    private static func longestRise(_ numbers: [Int]) -> [Int] {
        // For each length, the index of the lowest number with which a part of this length ends.
        var ends: [Int] = []
        var before = [Int](repeating: -1, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            let length = ends.partitioningIndex { numbers[$0] >= number }
            if length > 0 { before[index] = ends[length - 1] }
            if length == ends.count { ends.append(index) } else { ends[length] = index }
        }
        var rise: [Int] = []
        var index = ends.last ?? -1
        while index >= 0 {
            rise.append(index)
            index = before[index]
        }
        return rise.reversed()
    }
}

extension [ChangeSet.Entry] {
    /// Returns how many positions that the entries do not have come before a position.
    fileprivate func rank(of position: Int) -> Int { position - partitioningIndex { $0.position >= position } }

    /// Returns the position that no entry has, and before which there are so many others without an entry.
    fileprivate func position(ofRank rank: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].position - middle > rank { high = middle } else { low = middle + 1 }
        }
        return rank + low
    }
}

import Database
import Model

/// A place in an account's changes, from which pages of events are read.
///
/// An item is told in its newest state, at two places of the order at most: at the anchor with which it came, as added, and
/// at the anchor of its last change, as updated or removed. So a reader that goes on from any position is told that an item
/// was added before it is told anything else of the item. The second place is passed over where the reader was told the same
/// state at the first one.
struct FeedCursor: Sendable {
    /// The number of the course of anchors.
    private let epoch: Int64
    /// The anchor up to which everything was told.
    private var complete: Int64
    private var came: RowAnchor
    private var changed: RowAnchor
    private var gone: (anchor: Int64, number: Int64)
    private var noted: Int64
    /// Items that came up to this anchor were told before, or in a state that is older than ``complete``.
    private var toldBefore: Int64
    /// Up to which anchors of coming items were told after ``toldBefore``, and in the states of which anchors. Both rise.
    private var told: [(came: Int64, state: Int64)] = []
    /// A gap that is told next.
    private var gap: (from: ChangePosition, to: ChangePosition)?

    /// The largest number of rows of one kind that a page is made of. The changes of one transaction besides items are one
    /// row.
    static let pageSize = 500

    /// Makes a cursor behind a position.
    /// - Parameter position: The position of a reader; nil: what changes from now on is told. If changes after it are not
    ///   known, or it is of another course, a gap is told first.
    init(behind position: ChangePosition?, _ reads: some DatabaseReads) throws {
        let now = try reads.tombstones.position()
        if let position, try reads.tombstones.isComplete(after: position) {
            self.init(behind: position)
        } else {
            self.init(behind: now)
            gap = position.map { ($0, now) }
        }
    }

    private init(behind position: ChangePosition) {
        (epoch, complete) = (position.epoch, position.anchor)
        (came, changed) = (RowAnchor(behind: complete), RowAnchor(behind: complete))
        gone = (complete, .max)
        (noted, toldBefore) = (complete, complete)
    }

    /// The position from which a reader goes on that has all events that were read. Before a gap is told, it is the one
    /// before the gap, so that a reader that begins anew is told of it.
    var position: ChangePosition { gap?.from ?? ChangePosition(epoch: epoch, anchor: complete) }

    /// Reads the next events.
    /// - Parameters:
    ///   - now: The time to which ages are told.
    ///   - files: The folder of the local copies.
    ///   - size: The largest number of rows of one kind that the page is made of.
    /// - Returns: The events, and whether they are the last ones for now.
    mutating func page(
        _ reads: ReadTransaction, now: Timestamp, files: String, size: Int = pageSize
    ) throws -> (events: [FeedEvent], isLast: Bool) {
        let newest = try reads.tombstones.position()
        if gap == nil, try !reads.tombstones.isComplete(after: position) { gap = (position, newest) }
        if let (from, to) = gap {
            self = FeedCursor(behind: to)
            return ([FeedEvent(position: to, content: .gap(from: from, to: to))], false)
        }
        guard complete < newest.anchor else { return ([], true) }
        let (found, end) = try found(reads, size)
        let whole = end.map { $0 - 1 } ?? newest.anchor
        let latest = LatestNotes(found)
        var standing: ItemStanding?
        func report(_ item: Item) throws -> ItemReport {
            let known = try standing ?? ItemStanding(reads, now: now)
            standing = known
            return try known.report(item, reads, files: files)
        }
        var events: [FeedEvent] = []
        for (index, entry) in found.enumerated() {
            var contents: [FeedEvent.Content] = []
            switch entry.kind {
            case .came(let row):
                came = RowAnchor(anchor: entry.anchor, row: row.item.databaseID)
                if let change = row.firstChange { contents = [.item(change, try report(row.item))] }
            case .changed(let row):
                changed = RowAnchor(anchor: entry.anchor, row: row.item.databaseID)
                if row.came < entry.anchor, !wasTold(row, now: newest.anchor) {
                    contents = [.item(row.item.isRemoved ? .removed : .updated, try report(row.item))]
                }
            case .gone(let tombstone):
                gone = (entry.anchor, tombstone.number)
                contents = [.item(.removed, try report(tombstone.item(at: now)))]
            case .noted(let changes):
                noted = entry.anchor
                for (place, change) in changes.changes.enumerated()
                where latest.isLatest(change, place, of: entry.anchor) {
                    if let content = try change.content(isNew: latest.isNew(change), reads) { contents.append(content) }
                }
            }
            events += contents.dropLast().map { FeedEvent(position: position, content: $0) }
            // All before the next entry's anchor is told now.
            complete = max(complete, index + 1 < found.count ? found[index + 1].anchor - 1 : whole)
            if let content = contents.last { events.append(FeedEvent(position: position, content: content)) }
        }
        complete = max(complete, whole)
        guard end != nil else {
            self = FeedCursor(behind: newest)
            return (events, true)
        }
        noteTold(inStateOf: newest.anchor)
        return (events, false)
    }

    /// Tells whether the reader was told of an item, when it came, in the state that it still has. A removal is told in any
    /// case.
    private func wasTold(_ row: ChangedItem, now: Int64) -> Bool {
        guard row.came > toldBefore, !row.item.isRemoved else { return false }
        let state = told.first { $0.came >= row.came }?.state ?? now
        return row.item.anchor <= state
    }

    private mutating func noteTold(inStateOf anchor: Int64) {
        if told.last?.state == anchor { told.removeLast() }
        told.append((came.anchor, anchor))
        while let first = told.first, first.state <= complete {
            toldBefore = first.came
            told.removeFirst()
        }
    }

    /// Reads what comes next.
    /// - Returns: What comes next, in its order, and the anchor of which there may be more; nil if there is no more.
    private func found(_ reads: ReadTransaction, _ size: Int) throws -> (found: [FoundChange], end: Int64?) {
        let noted = try reads.notedChanges.after(noted, limit: size)
        // What a transaction removed comes before what it put in its place.
        let kinds: [(found: [FoundChange], isCut: Bool?)] = [
            (
                try reads.tombstones.behind(gone.anchor, number: gone.number, limit: size).map {
                    FoundChange($0.anchor, .gone($0))
                }, nil
            ),
            (
                try reads.items.changed(behind: changed, limit: size).map {
                    FoundChange($0.item.anchor, .changed($0))
                }, nil
            ),
            (try reads.items.came(behind: came, limit: size).map { FoundChange($0.came, .came($0)) }, nil),
            (noted.transactions.map { FoundChange($0.anchor, .noted($0)) }, noted.isCut),
        ]
        let end = kinds.compactMap { $0.isCut ?? ($0.found.count >= size) ? $0.found.last?.anchor : nil }.min()
        // The sort keeps the order of what has the same anchor.
        let all = kinds.flatMap(\.found).filter { $0.anchor <= end ?? .max }
        let order = all.indices.sorted { (all[$0].anchor, $0) < (all[$1].anchor, $1) }
        return (order.map { all[$0] }, end)
    }
}

/// What an event is made of.
private struct FoundChange {
    enum Kind {
        case came(ChangedItem)
        case changed(ChangedItem)
        case gone(Tombstone)
        case noted(NotedChanges)
    }

    let anchor: Int64
    let kind: Kind

    init(_ anchor: Int64, _ kind: Kind) { (self.anchor, self.kind) = (anchor, kind) }
}

/// The last changes of each sync record, issue, event loop and plugin in a page.
private struct LatestNotes {
    private struct Last {
        var anchor: Int64
        var place: Int
        var isNew: Bool
    }

    private var last: [NotedChange.Key: Last] = [:]

    init(_ found: [FoundChange]) {
        for entry in found {
            guard case .noted(let changes) = entry.kind else { continue }
            for (place, change) in changes.changes.enumerated() {
                let isNew = change.change == .added || last[change.key]?.isNew ?? false
                last[change.key] = Last(anchor: entry.anchor, place: place, isNew: isNew)
            }
        }
    }

    func isLatest(_ change: NotedChange, _ place: Int, of anchor: Int64) -> Bool {
        last[change.key].map { ($0.anchor, $0.place) == (anchor, place) } ?? false
    }

    /// Tells whether the thing came with one of the changes.
    func isNew(_ change: NotedChange) -> Bool { last[change.key]?.isNew ?? false }
}

extension NotedChange {
    /// What tells whose change it is.
    fileprivate enum Key: Hashable {
        case record(SyncRecordID)
        case issue(IssueID)
        case loop(LoopKey)
        case plugin(PluginID)
    }

    fileprivate var key: Key {
        switch subject {
        case .record(let id, _, _): .record(id)
        case .issue(let id, _): .issue(id)
        case .loop(let key): .loop(key)
        case .plugin(let id, _, _): .plugin(id)
        }
    }

    /// Returns what is told of the change: the newest state of what changed; nil if that is gone and its removal is told
    /// later.
    fileprivate func content(isNew: Bool, _ reads: ReadTransaction) throws -> FeedEvent.Content? {
        let told: FeedEvent.Change = isNew ? .added : .updated
        switch subject {
        case .record(let id, let action, let path):
            if change == .removed { return .recordGone(id, action: action, path: path) }
            return try reads.journal.record(id: id).map { .record(told, SyncRecordReport(record: $0, lane: nil)) }
        case .issue(let id, let code):
            if change == .removed { return .issueGone(id, code: code) }
            return try reads.issues.issue(id: id).map { .issue(told, $0) }
        case .loop(let key):
            if change == .removed { return .loopGone(key) }
            return try reads.loops.loop(key).map { .loop(told, $0) }
        case .plugin(let id, let state, let reason): return .plugin(id, state: state, reason: reason)
        }
    }
}

extension ChangedItem {
    /// What is told of the item at the anchor with which it came. Nil if it was removed since: that is told later.
    fileprivate var firstChange: FeedEvent.Change? {
        guard item.isRemoved else { return .added }
        return item.anchor == came ? .removed : nil
    }
}

extension Tombstone {
    /// What is known of the item.
    func item(at time: Timestamp) -> Item {
        var item = Item(localID: localID, fileID: nil, path: path, kind: kind)
        item.databaseID = databaseID
        item.removedAt = time
        return item
    }
}

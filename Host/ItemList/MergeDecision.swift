import Database
import LocalTree
import Model

/// The consequence of one entry of a listing for the database. A value: `FolderMerge` reads the rows and writes the
/// result.
enum MergeDecision: Equatable {
    /// An unchanged item. With `renewing`, only the ETag's strength or the race with the listing has changed, which is
    /// not reported as a change.
    case keep(ScanRow, renewing: ScanRow.Racy?)
    /// An item that is unchanged as far as the server tells, but whose copy may hold the first of two contents with one
    /// ETag.
    case distrust(ScanRow)
    case update(ScanRow, racy: ScanRow.Racy)
    /// An item that was only here and is now on the server too.
    case meet(ScanRow)
    /// An item that was not known, or that is at another place too: some servers list one id at several places.
    /// `displacing` is another item's row at the path, which leaves the path.
    case insert(displacing: ScanRow?, racy: ScanRow.Racy)
    /// An item that was elsewhere, or was removed here, and keeps its row.
    case move(ScanRow, displacing: ScanRow?, racy: ScanRow.Racy)
    /// An item that was elsewhere, and may be there still. These folders must be listed before the decision.
    case hold(until: [ItemPath])

    /// Whether an item is still at the path of its row, as far as a scan knows.
    enum Whereabouts {
        /// It was found there by this scan.
        case there
        /// It was not found there, or was removed before.
        case gone
        /// Its folder has not been listed yet.
        case unknown
    }

    /// Another row that may be an entry's item.
    struct Other {
        var row: ScanRow
        var whereabouts: Whereabouts
        /// Whether the row is at the entry's path but for the normalization form of the name. A server that stores names
        /// decomposed lists them so. If it lists both forms, these are two items.
        var isSpelledAlike = false
    }

    /// Decides about an entry.
    /// - Parameters:
    ///   - atPath: The row at the entry's path that is not removed.
    ///   - others: The other rows with the entry's id, or with its name in another normalization form.
    ///   - listedAt: The time of the listing, by the server's clock.
    static func decide(
        _ entry: ListedItem, atPath: ScanRow?, others: [Other], listedAt: Timestamp?
    ) -> MergeDecision {
        let racy = raceWithListing(entry, listedAt: listedAt)
        if let atPath, isSameItem(atPath, entry) {
            if atPath.fileID == nil, atPath.cloudStatus != .cloudOnly { return .meet(atPath) }
            guard !differs(atPath, entry) else { return .update(atPath, racy: racy) }
            return resolveRace(of: atPath, with: entry, racyNow: racy)
        }
        // Without an id of the server's only the path tells.
        let others = others.filter {
            $0.isSpelledAlike
                ? isSameItem($0.row, entry)
                : $0.row.kind == entry.kind && (entry.fileID != nil || $0.row.path == entry.path)
        }
        let gone = others.filter { $0.whereabouts == .gone }.map(\.row)
        let unknown = others.filter { $0.whereabouts == .unknown }.map(\.row.path.parent)
        // What was at this very path is back. Otherwise what went last has come here, as soon as that is known.
        if let row = gone.max(by: { $0.wentBefore($1, to: entry.path) }),
            unknown.isEmpty || row.removedAt == nil || row.path == entry.path
        {
            return .move(row, displacing: atPath, racy: racy)
        }
        return unknown.isEmpty ? .insert(displacing: atPath, racy: racy) : .hold(until: unknown)
    }

    /// Tells whether the row at the path is the entry's item, by the server's id if both have one.
    static func isSameItem(_ row: ScanRow, _ entry: ListedItem) -> Bool {
        guard row.kind == entry.kind else { return false }
        guard let known = row.fileID, known.isFromServer, let listed = entry.fileID else { return true }
        return known == listed
    }

    private static func differs(_ row: ScanRow, _ entry: ListedItem) -> Bool {
        row.etag != entry.etag || row.size != entry.size || row.lastModified != entry.lastModified
            || !same(row.mimeType, entry.mimeType) || row.isFavorite != entry.isFavorite
            || !same(row.owner, entry.owner)
            || !same(row.permissions, entry.permissions) || (entry.fileID != nil && row.fileID != entry.fileID)
    }

    private static func same(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return (a == nil) == (b == nil) }
        return a.hasSameBytes(as: b)
    }

    /// Tells whether a file changed within a second of its listing, by the server's own clock. Such a file may change
    /// again without getting another ETag: many servers make ETags from dates in whole seconds.
    private static func raceWithListing(_ entry: ListedItem, listedAt: Timestamp?) -> ScanRow.Racy {
        guard entry.kind == .file, let listedAt, let changed = entry.lastModified,
            listedAt.seconds - changed.seconds <= 1
        else { return .no }
        return entry.etag?.strength == .weak ? .untilStrong : .yes
    }

    private static func resolveRace(of row: ScanRow, with entry: ListedItem, racyNow: ScanRow.Racy) -> MergeDecision {
        let strengthChanged = row.etag?.strength != entry.etag?.strength
        guard row.racy != .no, racyNow == .no else {
            return .keep(row, renewing: strengthChanged ? row.racy : nil)
        }
        if row.racy == .untilStrong, entry.etag?.strength == .strong { return .keep(row, renewing: .no) }
        return row.cloudStatus == .localCopy ? .distrust(row) : .keep(row, renewing: .no)
    }
}

extension ScanRow {
    /// Tells whether another item's row is more likely to be the item that is at a path now, if both have its id and both
    /// are gone from their own paths.
    fileprivate func wentBefore(_ other: ScanRow, to path: ItemPath) -> Bool {
        if (self.path == path) != (other.path == path) { return other.path == path }
        return (removedAt?.nanoseconds ?? .max) < (other.removedAt?.nanoseconds ?? .max)
    }
}

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
    /// An item that was not known. `displacing` is another item's row at the path, which leaves the path.
    /// `isSecondWithID` tells whether an item with this id was just found elsewhere, so that the new item gets an
    /// identity of its own.
    case insert(displacing: ScanRow?, racy: ScanRow.Racy, isSecondWithID: Bool)
    /// An item that was elsewhere, or was removed here, and keeps its row.
    case move(ScanRow, displacing: ScanRow?, racy: ScanRow.Racy)

    /// Decides about an entry.
    /// - Parameters:
    ///   - atPath: The row at the entry's path that is not removed.
    ///   - withID: The row with the entry's id, if that is another row than `atPath`.
    ///   - isConfirmedElsewhere: Whether this scan has found `withID` at its own path.
    ///   - listedAt: The time of the listing, by the server's clock.
    static func decide(
        _ entry: ListedItem, atPath: ScanRow?, withID: ScanRow?, isConfirmedElsewhere: Bool, listedAt: Timestamp?
    ) -> MergeDecision {
        let racy = raceWithListing(entry, listedAt: listedAt)
        if let atPath, isSameItem(atPath, entry) {
            if atPath.fileID == nil { return .meet(atPath) }
            guard !differs(atPath, entry) else { return .update(atPath, racy: racy) }
            return resolveRace(of: atPath, with: entry, racyNow: racy)
        }
        if let withID, withID.kind == entry.kind, !isConfirmedElsewhere,
            entry.fileID != nil || withID.path == entry.path
        {
            return .move(withID, displacing: atPath, racy: racy)
        }
        return .insert(displacing: atPath, racy: racy, isSecondWithID: withID != nil && isConfirmedElsewhere)
    }

    /// Tells whether the row at the path is the entry's item, by the server's id if both have one.
    private static func isSameItem(_ row: ScanRow, _ entry: ListedItem) -> Bool {
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

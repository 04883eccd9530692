public import Model

/// The writes that concern folders still to be listed.
extension ScanTable where Access == Transaction {
    /// Adds a folder that is still to be listed. If the folder is there already, it is walked if either job says so.
    public func add(_ job: ScanJob) throws {
        try run(
            """
            INSERT INTO scanJobs (path, whole) VALUES (?, ?)
            ON CONFLICT (path) DO UPDATE SET whole = max(whole, excluded.whole)
            """, .path(job.path), .flag(job.isWhole))
    }

    /// Removes a folder that was listed. It is no error if the folder is not there.
    public func removeJob(_ path: ItemPath) throws { try run("DELETE FROM scanJobs WHERE path = ?", .path(path)) }

    /// Makes the next scan list a path, whatever the ETags above it are. For a folder, the folder itself is listed. For
    /// a file, or an unknown path, the nearest known folder above it is listed.
    public func requestListing(of path: ItemPath) throws {
        try add(ScanJob(path: nearestFolder(to: path), isWhole: false))
    }

    /// Notes that the server has made a change of this account's. The next scan lists the folder. No folder above the
    /// place counts as listed until then, so that what this account changed is no evidence about the server's ETags.
    public func noteOwnChange(at path: ItemPath) throws {
        try access.items.forgetListings(above: path)
        try requestListing(of: path.parent)
    }
}

/// The writes that concern missing items: those found again, displaced, or decided about.
extension ScanTable where Access == Transaction {
    /// Records that an item was missing in its folder's listing.
    /// - Returns: Whether the item was not missing before.
    @discardableResult
    public func noteMissing(_ databaseID: ItemRowID) throws -> Bool {
        try run("INSERT OR IGNORE INTO missingItems (databaseID) VALUES (?)", .id(databaseID))
        return changedRows > 0
    }

    /// Records that the items in a folder's complete listing are not missing.
    public func noteFound(in folder: ItemPath, _ isListed: (ItemRowID) -> Bool) throws {
        guard try hasMissing() else { return }
        let missing: [ItemRowID] = try ids(
            "SELECT databaseID FROM missingItems JOIN items USING (databaseID) WHERE parentPath = ?", .path(folder))
        try forgetMissing(missing.filter(isListed))
    }

    /// Removes items from the missing ones, since they were found or decided about.
    private func forgetMissing(_ ids: [ItemRowID]) throws {
        for id in ids { try run("DELETE FROM missingItems WHERE databaseID = ?", .id(id)) }
    }

    /// Flags the missing items, and all items below them, as removed from the server. Copies stay where they are.
    /// - Parameter folder: The folder whose own missing entries are flagged; nil for all missing items.
    /// - Returns: The number of removed items.
    @discardableResult
    public func removeMissing(in folder: ItemPath? = nil, at time: Timestamp) throws -> Int {
        let folders = try missingFolders(in: folder)
        var count = try removeDisplaced(in: folder, at: time)
        let removed = try access.items.flagMissingAsRemoved(in: folder, at: time)
        removed.forEach(access.noteRemoved)
        for folder in folders {
            let below = try access.items.flagRemoved(below: folder, at: time)
            below.forEach(access.noteRemoved)
            try forgetMissing(below)
            count += below.count
        }
        try forgetMissing(removed)
        return count + removed.count
    }

    /// Records the decision that displaced items are removed as of now.
    /// - Parameter folder: The folder whose displaced entries are removed, with all below them; nil for all displaced
    ///   items.
    /// - Returns: The number of removed items.
    private func removeDisplaced(in folder: ItemPath?, at time: Timestamp) throws -> Int {
        let ids: [ItemRowID] =
            if let folder {
                try self.ids(
                    """
                    SELECT items.databaseID FROM items WHERE items.\(ItemSQL.isMissing) AND removedAt IS NOT NULL
                      AND EXISTS (
                        SELECT 1 FROM missingItems JOIN items AS top USING (databaseID)
                        WHERE top.parentPath = ? AND top.removedAt = items.removedAt
                          AND (top.databaseID = items.databaseID
                            OR (top.\(ItemSQL.isFolder)
                              AND items.path > top.path || '/' AND items.path < top.path || '0')))
                    """, .path(folder))
            } else {
                try self.ids(
                    "SELECT databaseID FROM missingItems JOIN items USING (databaseID) WHERE removedAt IS NOT NULL")
            }
        try access.items.setRemoved(ids, at: time)
        ids.forEach(access.noteRemoved)
        try forgetMissing(ids)
        return ids.count
    }

    /// Takes a row, and all rows below it, out of the item list, since another item has its path.
    ///
    /// The rows become missing, and the removal is not noted until the end of the scan decides about all missing items.
    /// Until that decision, or longer if a person is asked, nothing may take their copies.
    /// - Parameters:
    ///   - heir: The path of the item that takes the path. If it is below the row, then it stays in the item list, and
    ///     so do all rows below it.
    ///   - isNewcomer: Whether the row had displaced an item that is back at its path before the decision. The rows
    ///     without a local file are then removed at once.
    public func displace(
        _ row: ScanRow, at time: Timestamp, by heir: ItemPath? = nil, isNewcomer: Bool = false
    ) throws {
        var ids = try access.items.flagRemoved(row.databaseID, at: time)
        if row.kind == .folder {
            let exempt = heir.flatMap { row.path.isAncestor(of: $0) ? $0 : nil }
            ids += try access.items.flagRemoved(below: row.path, without: exempt, at: time)
        }
        for id in ids {
            if isNewcomer, try access.items.isWithoutFile(databaseID: id) {
                access.noteRemoved(id)
                try forgetMissing([id])
            } else {
                try noteMissing(id)
            }
        }
    }

    /// Restores a removed item that is on the server again at its path. The row keeps its id, copy and last use.
    public func restore(_ row: ScanRow, with entry: ListedItem, fileID: FileID, racy: ScanRow.Racy) throws {
        try access.items.unflagRemoved(row.databaseID)
        if let removedAt = row.removedAt {
            if row.kind == .folder, try isMissing(row.databaseID) {
                // The items that were below the folder when it was displaced are restored with it.
                try access.items.separate(below: row.path, removedAt: removedAt)
                let ids = try access.items.unflagMissing(below: row.path, removedAt: removedAt)
                ids.forEach(access.noteUpdated)
                try forgetMissing(ids)
            }
            try welcomeBack([row.databaseID])
        }
        try access.items.updateListed(row, with: entry, fileID: fileID, racy: racy)
    }

    /// Records that items that were taken out of the item list are on the server: they are not missing and were not
    /// removed.
    private func welcomeBack(_ ids: [ItemRowID]) throws {
        let gone = try ids.count { try !isMissing($0) }
        try forgetGone(gone)
        try forgetMissing(ids)
    }

    /// Moves an item that the server has at another path now. The row, and all rows below it, keep their ids, copies
    /// and last uses.
    ///
    /// The copies move too: this transaction journals the tree's moves.
    /// - Parameter taker: The kind of another item of the server's that is at the old path; nil if there is none. What
    ///   the other item has below it stays. If it is a folder, its copies may be there already, and a folder's copies
    ///   move one by one.
    public func move(
        _ row: ScanRow, to entry: ListedItem, fileID: FileID, racy: ScanRow.Racy, placeTakenBy taker: Item.Kind?
    ) throws {
        let (old, new) = (row.path, entry.path)
        if row.removedAt != nil { try welcomeBack([row.databaseID]) }
        access.noteMove(isFound: true)
        if row.kind == .folder {
            if try taker == .folder && !access.moves.isToCome(to: old) {
                try access.moves.addCopies(below: old, to: new, removedAt: row.removedAt)
            } else {
                try access.moves.add(row.localID, from: old, to: new)
            }
            if let removedAt = row.removedAt {
                // The items that were removed together with the folder are restored with it.
                try access.items.separate(below: old, removedAt: removedAt)
                try welcomeBack(access.items.ids(below: old, removedAt: removedAt))
            }
            // If the old path is taken, the other rows below it belong to another folder.
            try access.items.movePaths(below: old, to: new, restoring: row.removedAt, alone: taker != nil)
                .forEach(access.noteUpdated)
            try access.journal.movePaths(below: old, to: new, alone: taker != nil)
        } else if try row.cloudStatus != .cloudOnly || access.journal.isLanding(row.localID) {
            // A file that is being put in place may lie at the old path by now, or be put there in a moment.
            try access.moves.add(row.localID, from: old, to: new)
        }
        try access.items.setPath(new, of: row.databaseID)
        try access.journal.setPath(new, of: row.localID)
        try access.items.updateListed(row, with: entry, fileID: fileID, racy: racy)
    }
}

/// The writes of the guard against mass removal.
extension ScanTable where Access == Transaction {
    /// Remembers the number of items at a time.
    public func noteKnown(_ count: Int, at time: Timestamp) throws { try remember(known: count, gone: 0, at: time) }

    /// Remembers how many items were removed without a person's confirmation.
    public func noteGone(_ count: Int, at time: Timestamp) throws { try remember(known: nil, gone: count, at: time) }

    private func remember(known: Int?, gone: Int, at time: Timestamp) throws {
        let minute = time.seconds / 60
        try run(
            """
            INSERT INTO removalMemory (minute, known, gone) VALUES (?, ?, ?) ON CONFLICT (minute) DO UPDATE SET
              known = max(coalesce(known, 0), coalesce(excluded.known, known, 0)), gone = gone + excluded.gone
            """, .integer(minute), .optional(known.map(Int64.init)), .integer(Int64(gone)))
        try run(
            """
            DELETE FROM removalMemory WHERE minute <= ?1 AND minute < coalesce(
              (SELECT max(minute) FROM removalMemory WHERE minute <= ?1 AND known IS NOT NULL), ?1)
            """, .integer(minute - minutesOfDay))
    }

    /// Subtracts items that are back from the remembered removals, since they had only moved.
    private func forgetGone(_ count: Int) throws {
        var rest = Int64(count)
        while rest > 0,
            let (minute, gone) = try row(
                "SELECT minute, gone FROM removalMemory WHERE gone > 0 ORDER BY minute DESC LIMIT 1", [],
                { ($0.integer(0) ?? 0, $0.integer(1) ?? 0) })
        {
            let taken = min(rest, gone)
            try run(
                "UPDATE removalMemory SET gone = gone - ? WHERE minute = ?", .integer(taken), .integer(minute))
            rest -= taken
        }
    }

    /// Ends the hold of removals: deletes its issue and ends the waits of the records that wait with the issue.
    public func endHold() throws {
        guard let issue = try heldRemovals() else { return }
        try access.issues.remove(id: issue.id)
        try access.journal.endWaits(forIssue: issue.id)
    }
}

public import Model

/// Folders that are still to be listed.
extension ScanTable where Access == Transaction {
    /// Adds a folder that is still to be listed. One that is there already is listed whole if either says so.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func add(_ job: ScanJob) throws {
        try run(
            """
            INSERT INTO scanJobs (path, whole) VALUES (?, ?)
            ON CONFLICT (path) DO UPDATE SET whole = max(whole, excluded.whole)
            """, .path(job.path), .flag(job.isWhole))
    }

    /// Takes a folder away that was listed. One that is not there is fine.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func removeJob(_ path: ItemPath) throws { try run("DELETE FROM scanJobs WHERE path = ?", .path(path)) }

    /// The next scan lists what has this path, whatever the ETags above it say: the folder itself; of a file, or of what is not known
    /// yet, the folder that it is in.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func requestListing(of path: ItemPath) throws {
        var folder = path
        while !folder.isRoot {
            if let row = try access.items.scanRow(at: folder), row.kind == .folder, row.removedAt == nil { break }
            folder = folder.parent
        }
        try add(ScanJob(path: folder, isWhole: false))
    }
}

/// What is missing: found again, displaced, or decided about.
extension ScanTable where Access == Transaction {
    /// An item was not in its folder's listing.
    /// - Returns: whether it was not missing before.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    @discardableResult
    public func noteMissing(_ databaseID: ItemRowID) throws -> Bool {
        try run("INSERT OR IGNORE INTO missingItems (databaseID) VALUES (?)", .id(databaseID))
        return changedRows > 0
    }

    /// What a folder holds, according to a listing that came to its end, is not missing.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func noteFound(in folder: ItemPath, _ isListed: (ItemRowID) -> Bool) throws {
        guard try hasMissing() else { return }
        let missing: [ItemRowID] = try ids(
            "SELECT databaseID FROM missingItems JOIN items USING (databaseID) WHERE parentPath = ?", .path(folder))
        try forgetMissing(missing.filter(isListed))
    }

    /// These are not missing any more, or it is decided about them.
    private func forgetMissing(_ ids: [ItemRowID]) throws {
        for id in ids { try run("DELETE FROM missingItems WHERE databaseID = ?", .id(id)) }
    }

    /// Flags what is missing, and all below it, as no longer on the server. Copies stay where they are.
    /// - Parameter folder: only what is missing in this folder; nil: everything.
    /// - Returns: how many items went.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
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

    /// It is decided: what was displaced is gone from now on.
    /// - Parameter folder: only what was in this folder, and all below that; nil: everything.
    /// - Returns: how many.
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
                            OR (top.\(ItemSQL.isFolder) AND items.path > top.path || '/' AND items.path < top.path || '0')))
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

    /// Takes a row, and all below it, out of the list, since another item has its path. Nobody is told before it is decided: they are
    /// missing, and the end of the scan decides about them with all else that is. Until then, and longer if a person is asked, their
    /// copies are nobody's to take.
    /// - Parameter isNewcomer: It displaced an item that is back in its place before anything was decided. What has nothing here goes
    ///   as it came.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func displace(_ row: ScanRow, at time: Timestamp, isNewcomer: Bool = false) throws {
        var ids = try access.items.flagRemoved(row.databaseID, at: time)
        if row.kind == .folder { ids += try access.items.flagRemoved(below: row.path, at: time) }
        for id in ids {
            if isNewcomer, try access.items.isWithoutFile(databaseID: id) {
                access.noteRemoved(id)
                try forgetMissing([id])
            } else {
                try noteMissing(id)
            }
        }
    }

    /// A removed item is on the server again, where it was: the row keeps its id, copy and last use.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func restore(_ row: ScanRow, with entry: ListedItem, fileID: FileID, racy: ScanRow.Racy) throws {
        try access.items.unflagRemoved(row.databaseID)
        if let removedAt = row.removedAt {
            if row.kind == .folder, try isMissing(row.databaseID) {
                // What the folder had below it when it was displaced is back with it.
                try access.items.separate(below: row.path, removedAt: removedAt)
                let ids = try access.items.unflagMissing(below: row.path, removedAt: removedAt)
                ids.forEach(access.noteUpdated)
                try forgetMissing(ids)
            }
            try welcomeBack([row.databaseID])
        }
        try access.items.updateListed(row, with: entry, fileID: fileID, racy: racy)
    }

    /// What was taken off the list is on the server: it is not missing, and had not gone.
    private func welcomeBack(_ ids: [ItemRowID]) throws {
        let gone = try ids.count { try !isMissing($0) }
        try forgetGone(gone)
        try forgetMissing(ids)
    }

    /// The server has the item at another path now: the row keeps its id, copy and last use, and so does all below it.
    ///
    /// What is here moves with it: the tree's moves are journalled in this transaction.
    /// - Parameter placeIsTaken: another item of the server's is at the old path, so that a folder's copies move one by one.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func move(
        _ row: ScanRow, to entry: ListedItem, fileID: FileID, racy: ScanRow.Racy, placeIsTaken: Bool
    ) throws {
        let (old, new) = (row.path, entry.path)
        if row.removedAt != nil { try welcomeBack([row.databaseID]) }
        access.noteMove()
        if row.kind == .folder {
            if try placeIsTaken && !access.moves.isToCome(to: old) {
                try access.moves.addCopies(below: old, to: new, removedAt: row.removedAt)
            } else {
                try access.moves.add(row.localID, from: old, to: new)
            }
            if let removedAt = row.removedAt {
                // What went together with the folder comes back with it.
                try access.items.separate(below: old, removedAt: removedAt)
                try welcomeBack(access.items.ids(below: old, removedAt: removedAt))
            }
            // When the place is taken, others below are another folder's.
            try access.items.movePaths(below: old, to: new, restoring: row.removedAt, alone: placeIsTaken)
                .forEach(access.noteUpdated)
            try access.journal.movePaths(below: old, to: new)
        } else if try row.cloudStatus != .cloudOnly || access.journal.isLanding(row.localID) {
            // What is landing may lie at the old path by now, or be put there in a moment.
            try access.moves.add(row.localID, from: old, to: new)
        }
        try access.items.setPath(new, of: row.databaseID)
        try access.journal.setPath(new, of: row.localID)
        try access.items.updateListed(row, with: entry, fileID: fileID, racy: racy)
    }
}

/// What the guard against mass removal remembers.
extension ScanTable where Access == Transaction {
    /// There were so many items.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func noteKnown(_ count: Int, at time: Timestamp) throws { try remember(known: count, gone: 0, at: time) }

    /// So many went without a person's word.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
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

    /// So many of what went are back: they had only moved.
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

    /// Nothing is held any more: takes the issue away, and lets go on what waited with it.
    /// - Throws: SQLite's error; see ``DatabaseReads``.
    public func endHold() throws {
        guard let issue = try heldRemovals() else { return }
        try access.issues.remove(id: issue.id)
        try access.journal.endWaits(forIssue: issue.id)
    }
}

import Connection
import Database
import Model

extension FolderMerge {
    /// Writes one entry, or holds it until it is known whether its item is still where it was.
    func merge(_ listed: Entry, into state: inout State, in tx: Transaction) throws {
        let entry = listed.item
        let fileID = entry.fileID ?? .substitute(for: entry.path)
        let atPath = try tx.items.scanRow(at: entry.path)
        var others: [MergeDecision.Other] = []
        if atPath.map({ !MergeDecision.isSameItem($0, entry) }) ?? true {
            for row in try tx.items.scanRows(withFileID: fileID) where row.databaseID != atPath?.databaseID {
                // An item that this account is about to move or to delete is found where the change is made, and
                // nowhere else.
                guard try !isPending(row, in: tx) else {
                    state.hasSkipped = true
                    state.isDisturbed = true
                    // The end of that record lists the folders of its own places, and this may be another one.
                    state.isOutOfDate = true
                    return
                }
                others.append(.init(row: row, whereabouts: try whereabouts(of: row, state, in: tx)))
            }
        }
        if atPath == nil, !entry.path.name.utf8.allSatisfy({ $0 < 0x80 }) {
            for row in try spelledAlike(entry.path, &state, in: tx) {
                if try isPending(row, in: tx) {
                    state.hasSkipped = true
                    return
                }
                if row.fileID == nil || others.contains(where: { $0.row.databaseID == row.databaseID }) { continue }
                let whereabouts = try whereabouts(of: row, state, in: tx)
                others.append(.init(row: row, whereabouts: whereabouts, isSpelledAlike: true))
            }
        }
        let decision = MergeDecision.decide(entry, atPath: atPath, others: others, listedAt: listed.listedAt)
        let newFileID = entry.fileID ?? atPath.flatMap(\.fileID) ?? fileID
        var rescan = job.isWhole
        var listedETag: String?
        let id: ItemRowID
        switch decision {
        case .keep(let row, let renewing):
            if let renewing { try tx.items.renewListed(row, etag: entry.etag, racy: renewing) }
            (id, listedETag) = (row.databaseID, row.listedETag)
        case .distrust(let row):
            try tx.items.distrustCopy(of: row)
            try context.fetchesAgain(row.localID, tx)
            (id, listedETag) = (row.databaseID, row.listedETag)
        case .update(let row, let racy):
            try tx.items.updateListed(row, with: entry, fileID: newFileID, racy: racy)
            if row.cloudStatus == .localCopy, row.etag == entry.etag { try keepIfContradicted(row, entry, in: tx) }
            (id, listedETag) = (row.databaseID, row.listedETag)
            state.noteChange(ofContent: row.etag != entry.etag)
            if entry.kind == .folder, row.etag != entry.etag { state.folderBelowChanged = true }
        case .meet(let row):
            try tx.items.meetLocalItem(row, with: entry, fileID: fileID)
            id = row.databaseID
            state.noteChange()
        case .insert(let displaced, let racy):
            let inherits = try displace(displaced, for: entry, in: tx)
            id = try tx.items.insertListed(entry, fileID: fileID, racy: racy, inheritsLocalFile: inherits)
            state.noteChange()
        case .hold(let places):
            state.held.append(listed)
            state.result.unknownPlaces.formUnion(places)
            state.noteChange()
            return
        case .move(let row, let displaced, let racy):
            // An item that is back in its place before the decision about it takes the place from the item that came
            // meanwhile.
            let isBack = try row.path == entry.path && row.removedAt != nil && tx.scan.isMissing(row.databaseID)
            let inherits = try displace(
                displaced, for: entry, from: row.path, isBack: isBack && displaced?.isYounger(than: row) == true, in: tx
            )
            (listedETag, rescan) = try move(row, to: entry, fileID: fileID, racy: racy, in: tx)
            if inherits, row.path == entry.path || row.cloudStatus == .cloudOnly {
                try tx.items.meetUnknownFile(at: row.localID)
            }
            id = row.databaseID
            state.result.movesTree = true
            state.noteChange()
        }
        state.seen.insert(id)
        guard entry.kind == .folder else { return }
        let isListed = entry.etag.map { listedETag?.hasSameBytes(as: $0.opaque) ?? false } ?? false
        guard rescan || !isListed else { return }
        let listing = ScanJob(path: entry.path, isWhole: rescan)
        state.result.jobs.append(listing)
        // A scan by ETags finds folders without an ETag by itself, and needs no folder that is unchanged.
        if entry.etag != nil, !isListed { state.jobsToKeep.append(listing) }
    }

    /// Returns the rows in the folder whose names differ from a path's only in the normalization form.
    private func spelledAlike(_ path: ItemPath, _ state: inout State, in tx: Transaction) throws -> [ScanRow] {
        if state.spellings == nil {
            var spellings: [String: [ItemRowID]] = [:]
            try tx.items.forEachUnusualName(in: job.path) { spellings[$1, default: []].append($0) }
            state.spellings = spellings
        }
        return try (state.spellings?[path.name] ?? []).compactMap { try tx.items.scanRow(databaseID: $0) }
            .filter { $0.removedAt == nil && $0.path.parent == job.path && $0.path != path }
    }

    /// Tells whether an item is still where this scan last knew it to be.
    private func whereabouts(
        of row: ScanRow, _ state: State, in tx: Transaction
    ) throws -> MergeDecision.Whereabouts {
        guard row.removedAt == nil else { return .gone }
        if state.seen.contains(row.databaseID) { return .there }
        if row.path.parent == job.path, !state.hasEnded { return .unknown }
        if try tx.scan.isMissing(row.databaseID) { return .gone }
        if context.isListed(row.path.parent) { return .there }
        var folder = row.path.parent
        while !folder.isRoot {
            guard let above = try tx.items.scanRow(at: folder), try !tx.scan.isMissing(above.databaseID) else {
                return .gone
            }
            folder = folder.parent
        }
        return .unknown
    }

    private func isPending(_ row: ScanRow, in tx: Transaction) throws -> Bool {
        guard try tx.journal.hasPendingPlaces() else { return false }
        if row.removedAt != nil { return try tx.items.deletion(of: row.databaseID) != nil }
        return try tx.journal.isArriving(row.path)
    }

    /// Removes another item's row from the path of an entry. The other item is missing until the end of the scan. A
    /// person's file at the path then counts as the new item's.
    /// - Parameters:
    ///   - origin: The path from which the new item comes; nil if it was not known.
    ///   - isBack: Whether the new item was at the path before the other.
    /// - Returns: Whether the new item inherits a person's file.
    private func displace(
        _ row: ScanRow?, for entry: ListedItem, from origin: ItemPath? = nil, isBack: Bool = false, in tx: Transaction
    ) throws -> Bool {
        guard let row else { return false }
        let hasPersonsFile = row.cloudStatus == .locallyModified || row.fileID == nil
        let inherits = hasPersonsFile && row.kind == .file && entry.kind == .file
        if inherits || row.fileID == nil { try tx.items.forgetLocalFile(of: row) }
        if row.fileID == nil, row.kind == .folder { try tx.items.deleteCopies(below: row.path) }
        if row.fileID != nil { try tx.scan.displace(row, at: context.started, by: origin, isNewcomer: isBack) }
        return inherits
    }

    /// Moves a row to an entry's path, or restores the row there.
    /// - Returns: The version under which the folder's children are known, and whether everything below the folder must
    ///   be listed again.
    private func move(
        _ row: ScanRow, to entry: ListedItem, fileID: FileID, racy: ScanRow.Racy, in tx: Transaction
    ) throws -> (listedETag: String?, rescan: Bool) {
        let cameBack = row.removedAt.map { $0 < context.started } ?? false
        if row.path == entry.path {
            try tx.scan.restore(row, with: entry, fileID: fileID, racy: racy)
            return (nil, true)
        }
        let taker = row.removedAt == nil ? nil : try tx.items.scanRow(at: row.path)
        try tx.scan.move(row, to: entry, fileID: fileID, racy: racy, placeTakenBy: taker?.kind)
        // The folder's own ETag says nothing about folders below it that were never listed: those were to be listed at
        // their old paths.
        let isPartlyListed = try row.kind == .folder && tx.items.hasUnlistedFolder(below: entry.path)
        return cameBack ? (nil, true) : (row.listedETag, job.isWhole || isPartlyListed)
    }

    /// Keeps a copy whose version the server lists with another size, and tells a person.
    private func keepIfContradicted(_ row: ScanRow, _ entry: ListedItem, in tx: Transaction) throws {
        guard let size = try tx.items.keepIfContradicted(copyOf: row.databaseID) else { return }
        try tx.issues.file(
            Issue(
                code: Self.contradictedCode, subject: entry.path.text,
                message:
                    "The server lists \(entry.path) with \(entry.size ?? 0) bytes, and the copy here of the same version has "
                    + "\(size) bytes. The copy stays, and counts as changed here. Compare both, and upload the copy under "
                    + "another name if the server's is not whole",
                choices: [
                    Issue.Choice(id: "dismiss", label: "Remove the issue from the list", impact: .nonDestructive)
                ], created: context.started))
    }
}

extension ScanRow {
    /// Tells whether this row's item was first found later than the other's. Rows are numbered in the order of their
    /// creation.
    fileprivate func isYounger(than other: ScanRow) -> Bool { databaseID > other.databaseID }
}

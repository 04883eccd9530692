import Connection
import Model
import Storage
import Synchronization

/// One folder's listing on its way into the database, batch by batch.
///
/// Rows are read and written in the caller's transaction; between batches only the ids of the rows that were seen are kept,
/// so that memory does not grow with what the rows hold.
final class FolderMerge: Sendable {
    /// What the scan tells its folders.
    struct Context: Sendable {
        var started: Timestamp
        /// Whether the next scan goes on with every folder that this one has not listed when it is cut off. It does not after a walk
        /// over everything that begins anew.
        var keepsAllJobs = true
        /// Folders whose rows this scan has confirmed.
        var isListed: @Sendable (ItemPath) -> Bool
        /// Each write gets an ETag of its own, so that a file which changed just before its listing is no risk. So it is on servers
        /// whose ETags are no dates: those of the ownCloud family.
        var etagsNameWrites = false
        /// The tree's mark lies at `/.larder`, so that the server's item of that name cannot be kept.
        var reservesDotLarder: Bool
    }

    /// What a finished folder gives.
    struct Result: Sendable {
        /// Folders to be listed next.
        var jobs: [ScanJob] = []
        /// Whether a row was added, changed, moved or removed.
        var changed = false
        /// Whether moves of the tree were journalled.
        var movesTree = false
        /// Whether something below had changed although the folder's ETag had not.
        var contradictsETag = false
    }

    private struct State {
        var seen: Set<Int64> = []
        var result = Result()
        var reserved: [RefusedEntry] = []
        /// Those of the jobs that a later scan has to know of, should this one end before them.
        var jobsToKeep: [ScanJob] = []
        /// Whether something changed that the folder's own ETag should have told.
        var contentChanged = false

        mutating func noteChange(ofContent: Bool = true) {
            result.changed = true
            if ofContent { contentChanged = true }
        }
    }

    private let job: ScanJob
    private let context: Context
    private let state = Mutex(State())

    init(job: ScanJob, context: Context) {
        self.job = job
        self.context = context
    }

    static let reservedName = "/.larder"
    static let refusedCode = "item.refused"

    func merge(_ entries: [ListedItem], listedAt: Timestamp?, in tx: Transaction) throws {
        try state.withLock { state in
            for entry in entries {
                if context.reservesDotLarder, entry.path.text.hasSameBytes(as: Self.reservedName) {
                    state.reserved = [RefusedEntry(href: Self.reservedName, problem: .reserved)]
                } else {
                    try merge(entry, listedAt: context.etagsNameWrites ? nil : listedAt, into: &state, in: tx)
                }
            }
        }
    }

    /// Ends the folder: what was not seen is missing, and the folder counts as listed under its version.
    func finish(_ listing: Listing, in tx: Transaction) throws -> Result {
        try state.withLock { state in
            let folder = listing.folder
            if job.path.isRoot { try mergeRoot(folder, in: tx) }
            for path in listing.unknown {
                if let row = try tx.scanRow(at: path) { state.seen.insert(row.databaseID) }
            }
            try report(listing.refused + state.reserved, in: tx)
            var missing: [Int64] = []
            try tx.forEachKnownChild(of: job.path) { if !state.seen.contains($0) { missing.append($0) } }
            // The end of the scan decides: until then they may turn up elsewhere.
            for id in missing where try tx.noteMissing(id) { state.noteChange() }
            try tx.noteFound(in: job.path) { state.seen.contains($0) }
            if let row = try tx.scanRow(at: job.path) {
                if let listed = row.listedETag, let etag = folder.etag, listed.hasSameBytes(as: etag.opaque) {
                    state.result.contradictsETag = state.contentChanged
                }
                try tx.setListed(folder: row.databaseID, etag: folder.etag)
            }
            try tx.removeScanJob(job.path)
            for job in state.jobsToKeep { try tx.addScanJob(job) }
            return state.result
        }
    }

    /// Files an issue for each entry that cannot be kept here, and withdraws those of entries that are gone.
    private func report(_ refused: [RefusedEntry], in tx: Transaction) throws {
        // No path has two slashes in a row: the subjects of a folder's entries begin like no other folder's.
        let prefix = job.path.prefixOfItemsBelow + "/"
        var known = try tx.issueSubjects(code: Self.refusedCode, prefix: prefix)
        for entry in refused {
            let subject = prefix + entry.href
            if let index = known.firstIndex(where: { $0.hasSameBytes(as: subject) }) {
                known.remove(at: index)
                continue
            }
            try tx.file(
                Issue(
                    code: Self.refusedCode, subject: subject,
                    message: "\(entry.href) in \(job.path) cannot be kept here: \(entry.problem.explanation). "
                        + "Rename it on the server",
                    choices: [], created: context.started))
        }
        for subject in known { try tx.deleteIssue(code: Self.refusedCode, subject: subject) }
    }

    /// The root is in no folder's listing but its own.
    private func mergeRoot(_ folder: ListedItem, in tx: Transaction) throws {
        let fileID = folder.fileID ?? .substitute(for: .root)
        if let row = try tx.scanRow(at: .root) {
            if row.etag != folder.etag || row.fileID != fileID {
                try tx.updateListed(row, with: folder, fileID: fileID, racy: .no)
            }
        } else {
            try tx.insertListed(folder, fileID: fileID, racy: .no)
        }
    }

    private func merge(_ entry: ListedItem, listedAt: Timestamp?, into state: inout State, in tx: Transaction) throws {
        let fileID = entry.fileID ?? .substitute(for: entry.path)
        let atPath = try tx.scanRow(at: entry.path)
        var withID: ScanRow?
        if atPath?.fileID != fileID, let found = try tx.scanRow(withFileID: fileID),
            found.databaseID != atPath?.databaseID
        {
            withID = found
        }
        let isConfirmedElsewhere =
            try withID.map {
                try $0.removedAt == nil && context.isListed($0.path.parent) && !tx.isMissing($0.databaseID)
            } ?? false
        let decision = MergeDecision.decide(
            entry, atPath: atPath, withID: withID, isConfirmedElsewhere: isConfirmedElsewhere, listedAt: listedAt)
        let newFileID = entry.fileID ?? atPath.flatMap(\.fileID) ?? fileID
        var rescan = job.isWhole
        var listedETag: String?
        let id: Int64
        switch decision {
        case .keep(let row, let renewing):
            if let renewing { try tx.renewListed(row, etag: entry.etag, racy: renewing) }
            (id, listedETag) = (row.databaseID, row.listedETag)
        case .distrust(let row):
            try tx.distrustCopy(of: row)
            (id, listedETag) = (row.databaseID, row.listedETag)
            state.noteChange(ofContent: false)
        case .update(let row, let racy):
            try tx.updateListed(row, with: entry, fileID: newFileID, racy: racy)
            (id, listedETag) = (row.databaseID, row.listedETag)
            state.noteChange(ofContent: row.etag != entry.etag)
        case .meet(let row):
            try tx.meetLocalItem(row, with: entry, fileID: fileID)
            id = row.databaseID
            state.noteChange()
        case .insert(let displaced, let racy, let isSecondWithID):
            let inherits = try displace(displaced, for: entry, in: tx)
            id = try tx.insertListed(
                entry, fileID: isSecondWithID ? .substitute(for: entry.path) : fileID, racy: racy,
                inheritsLocalFile: inherits)
            state.noteChange()
        case .move(let row, let displaced, let racy):
            if let displaced { try tx.removeListed(displaced, at: context.started) }
            (listedETag, rescan) = try move(row, to: entry, fileID: fileID, racy: racy, in: tx)
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
        // A walk over everything that is not finished is followed by another one, or by a scan that goes by ETags: that one finds
        // by itself what has none, and needs nothing of what is unchanged.
        if context.keepsAllJobs || (entry.etag != nil && !isListed) { state.jobsToKeep.append(listing) }
    }

    /// Another item's row leaves the path. A person's file there then counts for the item that comes.
    private func displace(_ row: ScanRow?, for entry: ListedItem, in tx: Transaction) throws -> Bool {
        guard let row else { return false }
        if row.fileID != nil { try tx.removeListed(row, at: context.started) }
        guard row.cloudStatus == .locallyModified || row.fileID == nil else { return false }
        guard row.kind == .file, entry.kind == .file else {
            if row.fileID == nil { try tx.forgetLocalFile(of: row) }
            return false
        }
        try tx.forgetLocalFile(of: row)
        return true
    }

    /// - Returns: the version under which the folder's children are known, and whether all below is listed again.
    private func move(
        _ row: ScanRow, to entry: ListedItem, fileID: FileID, racy: ScanRow.Racy, in tx: Transaction
    ) throws -> (listedETag: String?, rescan: Bool) {
        let cameBack = row.removedAt.map { $0 < context.started } ?? false
        if row.path == entry.path {
            try tx.restoreListed(row, with: entry, fileID: fileID, racy: racy)
            return (nil, true)
        }
        let placeIsTaken = try row.removedAt != nil && tx.scanRow(at: row.path) != nil
        try tx.moveListed(row, to: entry, fileID: fileID, racy: racy, placeIsTaken: placeIsTaken)
        // Its own ETag tells nothing of what was never listed: that was to be listed where it was before.
        let isPartlyListed = try row.kind == .folder && tx.hasUnlistedFolder(below: entry.path)
        return cameBack ? (nil, true) : (row.listedETag, job.isWhole || isPartlyListed)
    }
}

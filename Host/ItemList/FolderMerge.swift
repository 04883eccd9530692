import Connection
import Database
import Model
import Synchronization

/// The merge of one folder's listing into the database, batch by batch.
///
/// A merge reads and writes rows in the caller's transaction. Between batches it keeps only the ids of the rows it has
/// seen, so that memory does not grow with the content of the rows.
package final class FolderMerge: Sendable {
    /// The settings that a scan gives to the merges of its folders.
    package struct Context: Sendable {
        /// The time when the scan began.
        var started: Timestamp
        /// Tells whether every folder that still has to be listed is kept in the database for a later scan, in case
        /// this scan ends before listing it.
        var keepsAllJobs: @Sendable () -> Bool = { true }
        /// Tells whether this scan has confirmed a folder's rows.
        var isListed: @Sendable (ItemPath) -> Bool
        /// Whether each write gets an ETag of its own, so that a file which changed just before its listing is no risk.
        /// This is the case on servers whose ETags are not made from dates: those of the ownCloud family.
        var etagsNameWrites = false
        /// Whether the tree's marker lies at `/.larder`, so that the server's item of that name cannot be kept.
        var reservesDotLarder: Bool
        /// Requests another download of a copy that may hold the first of two contents with one ETag.
        var fetchesAgain: @Sendable (LocalID, Transaction) throws -> Void = { _, _ in }
        /// What was changed on the server for this account while listings were under way.
        var finishedChanges = FinishedChanges()
    }

    /// The result of a finished folder.
    package struct Result: Sendable {
        /// The folders to be listed next.
        var jobs: [ScanJob] = []
        /// Whether all of these folders were kept for a later scan.
        var keptJobs = true
        /// Whether a row was added, changed, moved or removed.
        var changed = false
        /// Whether the merge journalled moves of the tree.
        var movesTree = false
        /// What the listing showed about the server's folder ETags. Nothing, if this account's own work concerned the
        /// folder's entries.
        var evidence = ETagTrust.Evidence()
    }

    private struct State {
        var seen = RowSet()
        var result = Result()
        var reserved: [UnusableEntry] = []
        /// The folders among the jobs that a later scan must know of in any case, because it would not find them by
        /// their ETags.
        var jobsToKeep: [ScanJob] = []
        /// Whether something changed that the folder's own ETag should have shown.
        var contentChanged = false
        /// Whether a folder in the folder got another ETag.
        var folderBelowChanged = false
        /// Whether a change was made on the server since the listing began, so that the listing may be out of date.
        var isOutOfDate = false
        /// Whether this account was about to change something in the folder, or had just changed it.
        var isDisturbed = false
        /// Whether an entry was not taken in. The folder then does not count as known by its ETag.
        var hasSkipped = false

        mutating func noteChange(ofContent: Bool = true) {
            result.changed = true
            if ofContent { contentChanged = true }
        }
    }

    private let job: ScanJob
    private let context: Context
    private let moment: ListingMoment
    private let state = Mutex(State())

    /// Creates the merge of a listing.
    /// - Parameter moment: The moment before the listing was requested; nil if it is still to be requested.
    init(job: ScanJob, context: Context, since moment: ListingMoment? = nil) {
        self.job = job
        self.context = context
        self.moment = moment ?? context.finishedChanges.begin()
    }

    static let reservedName = "/.larder"
    static let refusedCode = "item.refused"
    static let contradictedCode = "copy.contradicted"

    func merge(_ entries: [ListedItem], listedAt: Timestamp?, in tx: Transaction) throws {
        try state.withLock { state in
            let places = try pendingPlaces(&state, in: tx)
            guard !places.isWithin else {
                state.hasSkipped = true
                return
            }
            // Neighbours in the indexes share pages. Swift's own order of texts serves as well as that of the bytes.
            for var entry in entries.sorted(by: { $0.path.text < $1.path.text }) {
                if context.reservesDotLarder, entry.path.text.hasSameBytes(as: Self.reservedName) {
                    state.reserved = [UnusableEntry(href: Self.reservedName, problem: .reserved)]
                } else {
                    if let changes = places.entries[entry.path] {
                        guard changes.allSatisfy(\.isOfProperty) else {
                            state.hasSkipped = true
                            continue
                        }
                        if let row = try tx.items.scanRow(at: entry.path),
                            row.fileID == entry.fileID || entry.fileID == nil
                        {
                            if changes.contains(.isMarked) { entry.isFavorite = row.isFavorite }
                            if changes.contains(.isDated) { entry.lastModified = row.lastModified }
                        }
                    }
                    try merge(entry, listedAt: context.etagsNameWrites ? nil : listedAt, into: &state, in: tx)
                }
            }
        }
    }

    /// Returns the places that this account is about to change, or has changed since the listing began.
    private func pendingPlaces(_ state: inout State, in tx: Transaction) throws -> FolderPlaces {
        var places = try tx.journal.pendingPlaces(in: job.path)
        for place in moment.changedSince {
            places.add(place, in: job.path)
            var finished = FolderPlaces()
            finished.add(place, in: job.path)
            if !finished.isEmpty { state.isOutOfDate = true }
        }
        if !places.isEmpty { state.isDisturbed = true }
        return places
    }

    /// Finishes the folder. Rows that were not seen are missing, and the folder counts as listed under its version.
    func finish(_ listing: Listing, in tx: Transaction) throws -> Result {
        try state.withLock { state in
            let places = try pendingPlaces(&state, in: tx)
            guard !places.isWithin else {
                try tx.scan.removeJob(job.path)
                return state.result
            }
            for (path, changes) in places.entries where changes.contains(.arrives) {
                if let row = try tx.items.scanRow(at: path) { state.seen.insert(row.databaseID) }
            }
            let folder = listing.folder
            if job.path.isRoot { try mergeRoot(folder, in: tx) }
            for path in listing.unknown {
                if let row = try tx.items.scanRow(at: path) { state.seen.insert(row.databaseID) }
            }
            try report(listing.refused + state.reserved, of: listing.refusedCount + state.reserved.count, in: tx)
            var missing: [ItemRowID] = []
            try tx.items.forEachKnownChild(of: job.path) { if !state.seen.contains($0) { missing.append($0) } }
            // The end of the scan decides about missing items: until then they may be found elsewhere.
            for id in missing where try tx.scan.noteMissing(id) { state.noteChange() }
            try tx.scan.noteFound(in: job.path) { state.seen.contains($0) }
            if let row = try tx.items.scanRow(at: job.path) {
                if let listed = row.listedETag, let etag = folder.etag, !state.isDisturbed {
                    let isUnchanged = listed.hasSameBytes(as: etag.opaque)
                    state.result.evidence = ETagTrust.Evidence(
                        contradicts: isUnchanged && state.contentChanged,
                        tells: !isUnchanged && state.folderBelowChanged)
                }
                let isTakenIn = !state.isOutOfDate && !state.hasSkipped && listing.unknown.isEmpty
                try tx.items.setListed(folder: row.databaseID, etag: isTakenIn ? folder.etag : nil)
            }
            try tx.scan.removeJob(job.path)
            if state.isOutOfDate { try tx.scan.add(ScanJob(path: job.path, isWhole: false)) }
            state.result.keptJobs = context.keepsAllJobs()
            for job in state.result.keptJobs ? state.result.jobs : state.jobsToKeep { try tx.scan.add(job) }
            return state.result
        }
    }

    /// Files one issue for all entries that cannot be kept here, and removes the issue when there are no such entries
    /// any more.
    private func report(_ refused: [UnusableEntry], of count: Int, in tx: Transaction) throws {
        let subject = job.path.text
        guard let first = refused.first else {
            try tx.issues.remove(code: Self.refusedCode, subject: subject)
            return
        }
        var message =
            "\(first.href) in \(job.path) cannot be kept here: \(first.problem.explanation). Rename it on the server"
        if count > 1 {
            let named = refused.prefix(Self.namedRefusals).map { "\($0.href) (\($0.problem.explanation))" }
            message =
                "\(count) entries of \(job.path) cannot be kept here: \(named.joined(separator: ", "))"
                + (count > named.count ? ", …" : "") + ". Rename them on the server"
        }
        // The issue is filed again only if its message has changed.
        let before = try tx.issues.issue(code: Self.refusedCode, subject: subject)
        if let before, before.message.hasSameBytes(as: message) { return }
        try tx.issues.file(
            Issue(
                code: Self.refusedCode, subject: subject, message: message, choices: [],
                created: before?.created ?? context.started))
    }

    /// The number of names in the message of an issue.
    private static let namedRefusals = 3

    /// Merges the root. The root appears in no folder's listing but its own.
    private func mergeRoot(_ folder: ListedItem, in tx: Transaction) throws {
        let fileID = folder.fileID ?? .substitute(for: .root)
        if let row = try tx.items.scanRow(at: .root) {
            if row.etag != folder.etag || row.fileID != fileID {
                try tx.items.updateListed(row, with: folder, fileID: fileID, racy: .no)
            }
        } else {
            try tx.items.insertListed(folder, fileID: fileID, racy: .no)
        }
    }

    private func merge(_ entry: ListedItem, listedAt: Timestamp?, into state: inout State, in tx: Transaction) throws {
        let fileID = entry.fileID ?? .substitute(for: entry.path)
        let atPath = try tx.items.scanRow(at: entry.path)
        var withID: ScanRow?
        if atPath?.fileID != fileID, let found = try tx.items.scanRow(withFileID: fileID),
            found.databaseID != atPath?.databaseID
        {
            withID = found
        }
        // An item that this account is about to move or to delete is found where the change is made, and nowhere else.
        if let withID, try isPending(withID, in: tx) {
            state.hasSkipped = true
            state.isDisturbed = true
            // The end of that record lists the folders of its own places, and this may be another one.
            state.isOutOfDate = true
            return
        }
        let isConfirmedElsewhere =
            try withID.map {
                try $0.removedAt == nil && context.isListed($0.path.parent) && !tx.scan.isMissing($0.databaseID)
            } ?? false
        let decision = MergeDecision.decide(
            entry, atPath: atPath, withID: withID, isConfirmedElsewhere: isConfirmedElsewhere, listedAt: listedAt)
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
        case .insert(let displaced, let racy, let isSecondWithID):
            let inherits = try displace(displaced, for: entry, in: tx)
            id = try tx.items.insertListed(
                entry, fileID: isSecondWithID ? .substitute(for: entry.path) : fileID, racy: racy,
                inheritsLocalFile: inherits)
            state.noteChange()
        case .move(let row, let displaced, let racy):
            // An item that is back in its place before the decision about it takes the place from the item that came
            // meanwhile.
            let isBack = try row.path == entry.path && row.removedAt != nil && tx.scan.isMissing(row.databaseID)
            let inherits = try displace(
                displaced, for: entry, isBack: isBack && displaced?.isYounger(than: row) == true, in: tx)
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

    private func isPending(_ row: ScanRow, in tx: Transaction) throws -> Bool {
        guard try tx.journal.hasPendingPlaces() else { return false }
        if row.removedAt != nil { return try tx.items.deletion(of: row.databaseID) != nil }
        return try tx.journal.isArriving(row.path)
    }

    /// Removes another item's row from the path of an entry. The other item is missing until the end of the scan. A
    /// person's file at the path then counts as the new item's.
    /// - Parameter isBack: Whether the new item was at the path before the other.
    /// - Returns: Whether the new item inherits a person's file.
    private func displace(
        _ row: ScanRow?, for entry: ListedItem, isBack: Bool = false, in tx: Transaction
    ) throws -> Bool {
        guard let row else { return false }
        let hasPersonsFile = row.cloudStatus == .locallyModified || row.fileID == nil
        let inherits = hasPersonsFile && row.kind == .file && entry.kind == .file
        if inherits || row.fileID == nil { try tx.items.forgetLocalFile(of: row) }
        if row.fileID != nil { try tx.scan.displace(row, at: context.started, isNewcomer: isBack) }
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
        let placeIsTaken = try row.removedAt != nil && tx.items.scanRow(at: row.path) != nil
        try tx.scan.move(row, to: entry, fileID: fileID, racy: racy, placeIsTaken: placeIsTaken)
        // The folder's own ETag says nothing about folders below it that were never listed: those were to be listed at
        // their old paths.
        let isPartlyListed = try row.kind == .folder && tx.items.hasUnlistedFolder(below: entry.path)
        return cameBack ? (nil, true) : (row.listedETag, job.isWhole || isPartlyListed)
    }
}

extension ScanRow {
    /// Tells whether this row's item was first found later than the other's. Rows are numbered in the order of their
    /// creation.
    fileprivate func isYounger(than other: ScanRow) -> Bool { databaseID > other.databaseID }
}

/// A set of row ids, with one bit for each id. The rows of a folder mostly have neighbouring ids, so a million rows
/// take less than a megabyte.
struct RowSet {
    private var words: [Int64: UInt64] = [:]

    mutating func insert(_ id: ItemRowID) { words[id.number >> 6, default: 0] |= 1 << UInt64(id.number & 63) }

    func contains(_ id: ItemRowID) -> Bool { (words[id.number >> 6] ?? 0) & (1 << UInt64(id.number & 63)) != 0 }

    /// The number of 64-bit words in the set.
    var wordCount: Int { words.count }
}

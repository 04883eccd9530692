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
        /// Tells whether this scan has listed a folder completely.
        var isListed: @Sendable (ItemPath) -> Bool
        /// Notes that this scan has listed a folder completely. Called in the transaction that finishes the folder, so
        /// that no later one misses it.
        var noteListed: @Sendable (ItemPath) -> Void = { _ in }
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
        /// The merge, if it holds entries until it is known whether their items are still where they were. The folder
        /// does not count as listed, and is kept for a later scan, until these are decided about.
        var held: FolderMerge?
        /// The folders that are to be listed before these entries can be decided about.
        var unknownPlaces: Set<ItemPath> = []
    }

    /// An entry as it was listed.
    struct Entry: Sendable {
        var item: ListedItem
        var listedAt: Timestamp?
    }

    struct State {
        var seen = RowSet()
        /// The rows in the folder whose names have more than ASCII, by their names in whatever normalization form; nil
        /// until a new name asks for them.
        var spellings: [String: [ItemRowID]]?
        /// The entries whose items were elsewhere, and may still be there.
        var held: [Entry] = []
        /// Whether all entries have come, so that a row that was not seen is missing.
        var hasEnded = false
        /// The folder's version and row, if the folder counts as listed once nothing is held any more.
        var listed: (row: ItemRowID, etag: ETag?)?
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
        /// Whether each row that the folder was known to hold was found unchanged, so that none is missing.
        var areAllRowsSeen = false
        /// Whether an entry was not taken in. The folder then does not count as known by its ETag.
        var hasSkipped = false

        mutating func noteChange(ofContent: Bool = true) {
            result.changed = true
            if ofContent { contentChanged = true }
        }
    }

    let job: ScanJob
    let context: Context
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

    /// Takes entries of the listing in.
    /// - Parameters:
    ///   - areAll: Whether these are all entries of the listing. The same transaction must finish the folder.
    ///   - listedAt: The server's clock when it answered.
    func merge(_ entries: [ListedItem], areAll: Bool = false, listedAt: Timestamp?, in tx: Transaction) throws {
        let listedAt = context.etagsNameWrites ? nil : listedAt
        try state.withLock { state in
            let pending = try pendingPlaces(&state, in: tx)
            var rest = entries
            if areAll, pending.isEmpty, !(context.reservesDotLarder && job.path.isRoot) {
                rest = try withoutUnchangedFiles(entries, &state, in: tx)
            }
            // Neighbours in the indexes share pages.
            rest.sort { $0.path < $1.path }
            try take(rest.map { Entry(item: $0, listedAt: listedAt) }, pending, into: &state, in: tx)
        }
    }

    /// Compares all entries with the rows of the folder by one statement, and returns those about which something is to
    /// be decided: all but files with the same facts as their rows.
    private func withoutUnchangedFiles(
        _ entries: [ListedItem], _ state: inout State, in tx: Transaction
    ) throws -> [ListedItem] {
        var places = [ItemPath: Int](minimumCapacity: entries.count)
        for place in entries.indices { places[entries[place].path] = place }
        // Which of two entries at one path counts depends on the order in which all are taken in.
        guard places.count == entries.count else { return entries }
        var isUnchanged = [Bool](repeating: false, count: entries.count)
        state.areAllRowsSeen = true
        try tx.items.eachKnownChild(of: job.path) { row in
            guard let place = places[row.path], row.isFile(with: entries[place]) else {
                state.areAllRowsSeen = false
                return
            }
            isUnchanged[place] = true
            state.seen.insert(row.databaseID)
        }
        return entries.indices.filter { !isUnchanged[$0] }.map { entries[$0] }
    }

    /// Takes entries in, without those that this account is about to change, or has just changed.
    private func take(
        _ entries: [Entry], _ places: FolderPlaces, into state: inout State, in tx: Transaction
    ) throws {
        guard !places.isWithin else {
            state.hasSkipped = true
            return
        }
        for var entry in entries {
            let path = entry.item.path
            if context.reservesDotLarder, path.text.hasSameBytes(as: Self.reservedName) {
                state.reserved = [UnusableEntry(href: Self.reservedName, problem: .reserved)]
                continue
            }
            if let changes = places.entries[path] {
                guard changes.allSatisfy(\.isOfProperty) else {
                    state.hasSkipped = true
                    continue
                }
                if let row = try tx.items.scanRow(at: path),
                    row.fileID == entry.item.fileID || entry.item.fileID == nil
                {
                    if changes.contains(.isMarked) { entry.item.isFavorite = row.isFavorite }
                    if changes.contains(.isDated) { entry.item.lastModified = row.lastModified }
                }
            }
            try merge(entry, into: &state, in: tx)
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
            if !state.areAllRowsSeen {
                try tx.items.forEachKnownChild(of: job.path) { if !state.seen.contains($0) { missing.append($0) } }
            }
            // The end of the scan decides about missing items: until then they may be found elsewhere.
            for id in missing where try tx.scan.noteMissing(id) { state.noteChange() }
            try tx.scan.noteFound(in: job.path) { state.seen.contains($0) }
            // What the server has not copied, or has no more.
            for path in try tx.items.copies(in: job.path) where places.entries[path] == nil {
                try tx.items.deleteCopies(atOrBelow: path)
                state.noteChange()
            }
            state.hasEnded = true
            if let row = try tx.items.scanRow(at: job.path) {
                if let listed = row.listedETag, let etag = folder.etag, !state.isDisturbed {
                    let isUnchanged = listed.hasSameBytes(as: etag.opaque)
                    state.result.evidence = ETagTrust.Evidence(
                        contradicts: isUnchanged && state.contentChanged,
                        tells: !isUnchanged && state.folderBelowChanged)
                }
                state.listed = (row.databaseID, listing.unknown.isEmpty ? folder.etag : nil)
            }
            context.noteListed(job.path)
            return try conclude(&state, in: tx)
        }
    }

    /// Decides about the held entries, as far as it is known by now whether their items are still where they were.
    func decideHeld(in tx: Transaction) throws -> Result {
        try state.withLock { state in
            // If the folder was moved meanwhile, the entries' paths are old. A later scan lists the folder.
            guard let row = try tx.items.scanRow(at: job.path), row.databaseID == state.listed?.row else {
                return Result()
            }
            return try conclude(&state, in: tx)
        }
    }

    /// Takes the held entries in, and records the folder as listed if nothing is left.
    private func conclude(_ state: inout State, in tx: Transaction) throws -> Result {
        let held = state.held
        state.held = []
        state.result.unknownPlaces = []
        if !held.isEmpty {
            try take(held, pendingPlaces(&state, in: tx), into: &state, in: tx)
            try tx.scan.noteFound(in: job.path) { state.seen.contains($0) }
        }
        let isTakenIn = !state.isOutOfDate && !state.hasSkipped && state.held.isEmpty
        if let listed = state.listed {
            try tx.items.setListed(folder: listed.row, etag: isTakenIn ? listed.etag : nil)
        }
        try tx.scan.removeJob(job.path)
        if state.isOutOfDate || !state.held.isEmpty { try tx.scan.add(ScanJob(path: job.path, isWhole: false)) }
        state.result.keptJobs = context.keepsAllJobs()
        for job in state.result.keptJobs ? state.result.jobs : state.jobsToKeep { try tx.scan.add(job) }
        var result = state.result
        if !state.held.isEmpty { result.held = self }
        (state.result, state.jobsToKeep) = (Result(), [])
        return result
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
}

import Connection
import Database
import LocalTree
import Model

/// The action that deletes an item on the server, with everything below.
///
/// Only what was seen is deleted: what came or changed on the server since the request makes the deletion wait for a
/// person. Until the server has answered, no copy is removed here. Files that were changed here, or exist only here,
/// stay in any case.
struct DeleteAction: RecordedChange {
    static let activity = SyncActivity.deleting

    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    func preflight(_ path: ItemPath, for requester: ChangeRequester, in tx: Transaction) throws -> EnqueueOutcome {
        if path.isRoot {
            return .refused(
                Failure(.badData, "the account's root cannot be deleted", hint: "Name the items that are to go"))
        }
        let item: Item
        switch try context.queue.itemToChange(path, in: tx) {
        case .failure(let failure): return .refused(failure)
        case .success(let found): item = found
        }
        if let failure = Right.delete.missing(to: item) { return .refused(failure) }
        if requester.reason != .user, let failure = try unsent(path, for: requester, in: tx) {
            return .refused(failure)
        }
        // What was to be made, and was never asked for, is not made.
        if let making = try tx.journal.records(of: item.localID).first(where: \.makesItem), !making.mayHaveArrived,
            try !context.queue.isBuiltOn(making, in: tx)
        {
            try giveUp(making, in: tx)
            return .done
        }
        if let makers = try context.queue.unsentMakers(of: item, for: requester, in: tx) {
            for making in makers.reversed() { try giveUp(making, in: tx) }
            return .done
        }
        let record = try context.records.record(.delete(), of: item, at: path, for: requester, in: tx)
        try tx.items.hide(item, for: record.id, at: clock.now())
        return .queued(record.id)
    }

    /// Takes back a record that was to make what is deleted now. Where that was a copy, the deletion of what was to be
    /// copied stands: whoever deletes both wants neither.
    private func giveUp(_ making: SyncRecord, in tx: Transaction) throws {
        guard case .copy = making.action, let copy = try tx.items.item(localID: making.localID) else {
            return try context.records.deschedule(making, in: tx)
        }
        try context.records.remove(making, in: tx)
        try context.takeBack.takeBackMaking(making, of: copy, in: tx)
    }

    /// Returns the failure of a plugin's deletion of something for which somebody else has an upload under way: what is
    /// to be uploaded may be nowhere else.
    private func unsent(
        _ path: ItemPath, for requester: ChangeRequester, in tx: Transaction
    ) throws -> Failure? {
        let upload = try tx.journal.changes(atOrBelow: path).first {
            $0.action.kind == .upload && $0.reason != requester.reason
        }
        return upload.map { Failure(.failed, "the upload of \($0.path) is not done yet", hint: .listSyncRecords) }
    }

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<RecordedEffect> {
        let path = job.record.path
        guard let held = try await server.held(at: path) else { return .done() }
        if try await !isForced(job.record) {
            let news = try await self.news(in: held, for: job.record)
            guard news.isEmpty else { return try await refused(job.record, news) }
            if held.item.kind == .folder, try await server.leavesOutDotNames() {
                return .refused(Self.hidden(path), .deletion, seen: digest(of: try await tree(at: path)))
            }
        }
        let version = held.item.kind == .file ? held.item.etag : nil
        let outcome = try await server.delete(path, isFolder: held.item.kind == .folder, version: version)
        switch outcome {
        case .done, .refused(.notFound): return .done()
        case .refused(.versionChanged): return try await refused(job.record, [path])
        case .refused(let refusal): return result(refusal, of: .delete(path))
        case .unclear(let error):
            // What is left is looked at before anything is asked again.
            let left = try await afterChange { try await server.held(at: path) }
            guard left != nil else { return .done() }
            throw error
        }
    }

    /// Tells whether a person has agreed to the loss of what the server has now.
    private func isForced(_ record: SyncRecord) async throws -> Bool {
        guard record.action == .delete(isForced: true), let seen = record.evidence.observation else { return false }
        return try await digest(of: tree(at: record.path)) == seen.digest
    }

    /// Returns the result for a deletion of which a person has to be asked. The question names what the same listing
    /// shows for which the answer holds.
    /// - Parameter found: What another listing has shown just before.
    private func refused(_ record: SyncRecord, _ found: [ItemPath]) async throws -> ChangeResult<RecordedEffect> {
        guard let tree = try await tree(at: record.path) else { return .done() }
        let news = try await news(in: tree, for: record)
        return .refused(
            Self.changed(record.path, news.isEmpty ? found : news), .deletion, seen: digest(of: tree))
    }

    /// Returns what a tree has that was not seen when the deletion was requested. Of what is in a new folder, nothing is
    /// named.
    private func news(in tree: ServerTree, for record: SyncRecord) async throws -> [ItemPath] {
        guard let top = tree.top, try await seen(record)?.isSame(top) == true else { return [record.path] }
        var news: Set<ItemPath> = []
        var folders = [record.path]
        let entries = Dictionary(grouping: tree.entries.values) { $0.path.parent }
        while let folder = folders.popLast() {
            let known = try await seen(below: folder, for: record)
            for entry in entries[folder] ?? [] where entry.path != folder {
                if known[entry.path]?.isSame(entry) != true {
                    news.insert(entry.path)
                } else if entry.kind == .folder {
                    folders.append(entry.path)
                }
            }
        }
        return news.union(tree.unlisted).sorted()
    }

    private static func changed(_ path: ItemPath, _ news: [ItemPath]) -> Failure {
        let names = news.prefix(mostNamed).map(\.text).joined(separator: ", ") + (news.count > mostNamed ? ", …" : "")
        let what = news == [path] ? "it has" : "\(news.count == 1 ? "something" : "\(news.count) items") there"
        let verb = news == [path] ? "changed" : news.count == 1 ? "is new or has changed" : "are new or have changed"
        let unseen = news == [path] ? "" : ", or cannot be listed here"
        return Failure(
            .failed, "\(path) was not deleted: \(what) \(verb) on the server since\(unseen) (\(names))",
            hint: .listIssues)
    }

    private static func hidden(_ path: ItemPath) -> Failure {
        Failure(
            .failed,
            "\(path) was not deleted: the server leaves names that begin with a dot out of its listings, and would "
                + "delete what the folder holds under such names too",
            hint: .listIssues)
    }

    /// The number of items that a message names.
    private static let mostNamed = 3

    // MARK: What was seen

    /// Returns what the server has at and below a path that was not there, or was another version, when the deletion
    /// was requested, and what a listing does not show: calendars, address books and principals, names that cannot be
    /// kept here, and what the server tells nothing about.
    private func news(in held: HeldItem, for record: SyncRecord) async throws -> [ItemPath] {
        let found = held.item
        guard !held.isForeign, try await seen(record)?.isSame(found) == true else {
            return [found.path]
        }
        var news: [ItemPath] = []
        var folders = found.kind == .folder ? [found.path] : []
        while let folder = folders.popLast() {
            let known = try await seen(below: folder, for: record)
            do {
                let listing = try await server.list(folder, depth: .one) { (entries: [ListedItem]) in
                    for entry in entries {
                        if known[entry.path]?.isSame(entry) != true {
                            news.append(entry.path)
                        } else if entry.kind == .folder {
                            folders.append(entry.path)
                        }
                    }
                }
                news += listing.unlisted
                if listing.isForeign || listing.refusedCount > 0 { news.append(folder) }
            } catch let error as ConnectionError where error.kind == .notFound {
                // Somebody else has deleted the folder meanwhile.
                continue
            }
            // A person is asked anyway: further listings would only lengthen the list.
            if news.count > Self.mostNamed { break }
        }
        return news
    }

    private func seen(_ record: SyncRecord) async throws -> SeenItem? {
        try await database.read { reads in
            try reads.items.item(localID: record.localID).map { SeenItem($0) }
        }
    }

    private func seen(below folder: ItemPath, for record: SyncRecord) async throws -> [ItemPath: SeenItem] {
        try await database.read { reads in
            // Moves that come after the deletion have changed the paths in the item list already, unless they are about
            // what has come to the place since.
            guard let top = try reads.items.item(localID: record.localID) else { return [:] }
            let shown = folder.moved(from: record.path, to: top.path)
            var seen: [ItemPath: SeenItem] = [:]
            try reads.items.eachHidden(in: shown, for: record.id) { item in
                seen[item.path.moved(from: shown, to: folder)] = SeenItem(item)
                return true
            }
            return seen
        }
    }

    // MARK: The result

    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws {
        try tx.items.confirmHidden(for: record.id, at: clock.now())
        try tx.journal.endPlaceWaits()
    }

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        // What came to its place since is made beside it.
        try context.takeBack.rewriteQueue(behind: record, QueueRewrite.Displacement(to: record.path), in: tx)
        try context.takeBack.restore(record, in: tx)
    }
}

/// An item as it was seen when its deletion was requested.
private struct SeenItem: Sendable {
    var kind: Item.Kind
    var etag: ETag?
    var size: Int64?

    init(_ item: Item) { (kind, etag, size) = (item.kind, item.etag, item.size) }

    /// Tells whether the server still has what was seen. Of folders only their contents count, which are compared one
    /// by one. Of what the account's own copy of a folder was to make no version is known.
    func isSame(_ entry: ListedItem) -> Bool {
        guard kind == entry.kind, kind == .file else { return kind == entry.kind }
        return etag.map { $0 == entry.etag } ?? (size == entry.size)
    }
}

extension SyncRecord {
    /// Whether the record makes its item on the server, which has nothing at the path before.
    fileprivate var makesItem: Bool {
        switch action {
        case .createFolder, .copy: true
        case .upload(let upload): upload.isNew
        case .download, .removeLocalCopy, .purge, .delete, .move, .setFavorite, .setModificationTime: false
        }
    }
}

import Connection
import Database
import Model

/// The action that moves or renames an item on the server. The item list, and the copies here, show the move at once.
struct MoveAction: TargetedChange {
    static let activity = SyncActivity.moving
    static let leavesSource = false

    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    func preflight(
        _ path: ItemPath, to target: ItemPath, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        if let failure = Self.placesClash(path, target, doing: "moved") { return .refused(failure) }
        var item: Item
        switch try context.queue.itemToChange(path, in: tx) {
        case .failure(let failure): return .refused(failure)
        case .success(let found): item = found
        }
        if let failure = try context.queue.obstacle(toNew: target, isFolder: item.kind == .folder, in: tx) {
            return .refused(failure)
        }
        if let failure = Right.move.missing(to: item) { return .refused(failure) }
        if let makers = try context.queue.unsentMakers(of: item, for: requester, in: tx), let making = makers.first,
            try context.queue.moveUnsent(makers, item, to: target, in: tx)
        {
            return .joined(making.id)
        }
        item.syncActivity.insert(Self.activity)
        item = try tx.items.updateLocal(item)
        let moved = try tx.items.move(item, to: target)
        return .queued(try context.records.record(.move(to: target), of: moved, at: path, for: requester, in: tx).id)
    }

    /// Tells why an item cannot be moved or copied to a path, whatever is there.
    static func placesClash(_ path: ItemPath, _ target: ItemPath, doing: String) -> Failure? {
        if path.isRoot { return Failure(.badData, "the account's root cannot be \(doing)") }
        if path == target { return Failure(.badData, "\(path) cannot be \(doing) to itself") }
        if path.isAncestor(of: target) { return Failure(.badData, "\(path) cannot be \(doing) into itself") }
        return nil
    }

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<RecordedEffect> {
        guard let target = job.record.action.otherPath else { throw Failure(.internal, "A move has no target") }
        let write = WriteRequest.move(job.record.path, to: target)
        return try await request(job, write, to: target, mayHaveArrived: mayHaveArrived)
    }

    func send(_ record: SyncRecord, to target: ItemPath, isFolder: Bool) async throws(ConnectionError) -> WriteOutcome {
        try await server.move(record.path, to: target, isFolder: isFolder)
    }

    func state(of record: SyncRecord, isFolder: Bool, wasFree: Bool?) async throws -> TargetState {
        let target = record.action.otherPath ?? record.path
        let known = try await known(record, at: target)
        let left = try await tree(at: record.path, as: target)
        let shown = try await tree(at: target)
        return TargetState(
            confirmation: .ofMove(of: known, left: left, shown: shown, wasFree: wasFree), wanted: known,
            target: shown, digest: digest(of: left, shown))
    }

    /// Returns what is known to have been moved: the items that the list shows at the target, without those that later
    /// records make or change there.
    private func known(_ record: SyncRecord, at target: ItemPath) async throws -> ServerTree {
        try await database.read { reads in
            var known = ServerTree(target)
            guard let top = try reads.items.item(localID: record.localID) else { return known }
            // Later moves have changed the paths in the list already.
            let place = top.path
            let later = try reads.journal.changes(atOrBelow: place, after: record.id)
            let touched = later.flatMap { [$0.path] + ($0.action.otherPath.map { [$0] } ?? []) }
            func add(_ item: Item) {
                guard item.fileID != nil, item.cloudStatus != .localOnly, !item.isRemoved else { return }
                let isTouched = touched.contains { $0 == item.path || $0.isAncestor(of: item.path) }
                guard !isTouched || item.localID == top.localID else { return }
                let entry = ListedItem(
                    path: item.path, kind: item.kind, fileID: item.fileID, etag: item.etag,
                    size: isTouched ? nil : item.size)
                known.add(entry, at: item.path.moved(from: place, to: target))
            }
            add(top)
            guard top.kind == .folder else { return known }
            try reads.items.each(ItemListing(folder: place, isRecursive: true)) { item in
                add(item)
                return true
            }
            return known
        }
    }

    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws {
        var item = try item(of: record, in: tx)
        item.syncActivity.remove(Self.activity)
        try tx.items.updateLocal(item)
        // Some servers give what is moved another version.
        try tx.items.forgetFormerVersion(of: item.databaseID)
        // Folders below that were still to be listed are known by their old paths.
        if item.kind == .folder, try tx.items.hasUnlistedFolder(below: item.path) {
            try tx.scan.add(ScanJob(path: item.path, isWhole: true))
            tx.noteFoldersLeft()
        }
    }

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        guard let target = record.action.otherPath else { throw Failure(.internal, "A move has no target") }
        var item = found
        item.syncActivity.remove(Self.activity)
        item = try tx.items.updateLocal(item)
        let displacement = QueueRewrite.Displacement(
            from: target, to: record.path, item: item.localID, isTakenBack: true)
        try context.takeBack.rewriteQueue(behind: record, displacement, in: tx)
    }
}

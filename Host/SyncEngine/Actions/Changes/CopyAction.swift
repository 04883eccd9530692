import Connection
import Database
import Model

/// The action that copies an item on the server. Until then placeholders show the copy, and what is in it.
struct CopyAction: TargetedChange {
    static let activity = SyncActivity.copying
    static let leavesSource = true

    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    func preflight(
        _ path: ItemPath, to target: ItemPath, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        if let failure = MoveAction.placesClash(path, target, doing: "copied") { return .refused(failure) }
        let item: Item
        switch try context.queue.itemToChange(path, in: tx) {
        case .failure(let failure): return .refused(failure)
        case .success(let found): item = try tx.journal.queued(found)
        }
        if let failure = try context.queue.obstacle(toNew: target, isFolder: item.kind == .folder, in: tx) {
            return .refused(failure)
        }
        let copy = try tx.items.insertPlaceholder(
            target, kind: item.kind, size: item.size, mimeType: item.mimeType, modified: item.lastModified,
            activity: Self.activity)
        let record = try context.records.record(.copy(from: path), of: copy, at: target, for: requester, in: tx)
        if item.kind == .folder { try tx.items.insertCopies(below: path, at: target, for: record.id) }
        return .queued(record.id)
    }

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<RecordedEffect> {
        let write = WriteRequest.copy(try source(of: job.record), to: job.record.path)
        let result = try await request(job, write, to: job.record.path, mayHaveArrived: mayHaveArrived)
        if case .made = result, job.kind == .folder {
            try await afterChange { try await confirmContents(of: job.record) }
        }
        return result
    }

    /// Lists what the server has copied, if other records are about parts of it: a deletion, for example, is about the
    /// version that was copied. Where nothing waits for it, the next scan lists the copy.
    private func confirmContents(of record: SyncRecord) async throws {
        guard try await database.read({ try $0.items.isWorkWaiting(forCopiesBy: record.id) }) else { return }
        var folders = [record.path]
        while let folder = folders.popLast() {
            do {
                _ = try await server.list(folder, depth: .one) { entries in
                    folders += entries.filter { $0.kind == .folder }.map(\.path)
                    try await database.write { tx in
                        for entry in entries { try tx.items.confirmCopied(entry, in: record.path, by: record.id) }
                    }
                }
            } catch let error as ConnectionError where error.kind == .notFound {
                // Somebody else has deleted the folder meanwhile.
                continue
            }
        }
    }

    private func source(of record: SyncRecord) throws -> ItemPath {
        guard let source = record.action.otherPath else { throw Failure(.internal, "A copy has no source") }
        return source
    }

    func send(_ record: SyncRecord, to target: ItemPath, isFolder: Bool) async throws(ConnectionError) -> WriteOutcome {
        guard let source = record.action.otherPath else {
            throw ConnectionError(.badRequest, "a copy has no source")
        }
        return try await server.copy(source, to: target, isFolder: isFolder)
    }

    func state(of record: SyncRecord, isFolder: Bool, wasFree: Bool?) async throws -> TargetState {
        let target = record.path
        let wanted = try await tree(at: try source(of: record), as: target)
        let shown = try await tree(at: target)
        return TargetState(
            confirmation: .ofCopy(
                of: wanted, shown: shown, wasFree: wasFree, mayHaveMore: record.evidence.wasTaken == true),
            wanted: wanted ?? ServerTree(target),
            target: shown, digest: digest(of: wanted, shown))
    }

    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws {
        let item = try item(of: record, in: tx)
        let entry = made ?? ListedItem(path: record.path, kind: item.kind, size: item.size)
        try tx.items.confirm(item, as: entry, ending: Self.activity)
        if item.kind == .folder {
            try tx.scan.add(ScanJob(path: item.path, isWhole: true))
            tx.noteFoldersLeft()
            // Downloads of what is in it may wait for it.
            try tx.journal.endPlaceWaits()
        }
    }

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        try context.takeBack.takeBackMaking(record, of: found, copied: record.action.otherPath, in: tx)
    }
}

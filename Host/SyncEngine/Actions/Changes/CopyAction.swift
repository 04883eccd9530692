import Connection
import Database
import Model

/// The action that copies an item on the server. Until then a placeholder shows the copy; what is below a copied folder
/// is known when the folder has been listed.
struct CopyAction: TargetedChange {
    static let activity = SyncActivity.copying
    static let leavesSource = true

    let engine: SyncEngine

    init(_ engine: SyncEngine) { self.engine = engine }

    func preflight(
        _ path: ItemPath, to target: ItemPath, for requester: ChangeRequester, in tx: Transaction
    ) throws -> EnqueueOutcome {
        if let failure = MoveAction.placesClash(path, target, doing: "copied") { return .refused(failure) }
        let item: Item
        switch try engine.itemToChange(path, in: tx) {
        case .failure(let failure): return .refused(failure)
        case .success(let found): item = found
        }
        if let failure = try engine.obstacle(toNew: target, isFolder: item.kind == .folder, in: tx) {
            return .refused(failure)
        }
        let copy = try tx.items.insertPlaceholder(
            target, kind: item.kind, size: item.size, mimeType: item.mimeType, modified: item.lastModified,
            activity: Self.activity)
        return .queued(try engine.record(.copy(from: path), of: copy, at: target, for: requester, in: tx).id)
    }

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult {
        let write = WriteRequest.copy(try source(of: job.record), to: job.record.path)
        return try await request(job, write, to: job.record.path, mayHaveArrived: mayHaveArrived)
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
            confirmation: .ofCopy(of: wanted, shown: shown, wasFree: wasFree), wanted: wanted ?? ServerTree(target),
            target: shown, digest: digest(of: wanted, shown))
    }

    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws {
        let item = try item(of: record, in: tx)
        let entry = made ?? ListedItem(path: record.path, kind: item.kind, size: item.size)
        try tx.items.confirm(item, as: entry, ending: Self.activity)
        if item.kind == .folder {
            try tx.scan.add(ScanJob(path: item.path, isWhole: true))
            tx.noteFoldersLeft()
        }
    }

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        try engine.takeBackMaking(record, of: found, copied: record.action.otherPath, in: tx)
    }
}

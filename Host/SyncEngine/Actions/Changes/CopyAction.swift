import Connection
import Database
import Model

/// The action that copies an item on the server. Until then a placeholder shows the copy; what is below a copied folder
/// is known when the folder has been listed.
struct CopyAction: ChangeAction {
    static let activity = SyncActivity.copying

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
        guard let source = job.record.action.otherPath else { throw Failure(.internal, "A copy has no source") }
        let path = job.record.path
        if mayHaveArrived, let held = try await server.held(at: path), held.item.kind == job.kind,
            job.kind == .folder || held.item.size == job.size
        {
            return .done(held.item)
        }
        let outcome = try await server.copy(source, to: path, isFolder: job.kind == .folder)
        guard case .done = outcome else { return result(outcome, of: .copy(source, to: path)) }
        return .done(try await afterChange { () throws(ConnectionError) in try await server.held(at: path) }?.item)
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
        if let failure = try engine.dependent(on: record, in: tx) { throw failure }
        try engine.removePlaceholder(found, ending: Self.activity, in: tx)
    }
}

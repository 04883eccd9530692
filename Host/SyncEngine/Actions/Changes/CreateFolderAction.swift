import Connection
import Database
import Model

/// The action that creates a folder on the server.
struct CreateFolderAction: RecordedChange {
    static let activity = SyncActivity.creating

    let context: ActionContext

    init(_ context: ActionContext) { self.context = context }

    func preflight(_ path: ItemPath, for requester: ChangeRequester, in tx: Transaction) throws -> EnqueueOutcome {
        // A folder that exists only here is created on the server and stays here.
        if var local = try tx.items.item(at: path), local.kind == .folder, local.cloudStatus == .localOnly {
            if let same = try tx.journal.records(of: local.localID).first(where: { $0.action == .createFolder }) {
                return .joined(same.id)
            }
            local.syncActivity.insert(Self.activity)
            try tx.items.updateLocal(local)
            return .queued(try context.records.record(.createFolder, of: local, at: path, for: requester, in: tx).id)
        }
        if let failure = try context.queue.obstacle(toNew: path, isFolder: true, in: tx) { return .refused(failure) }
        let folder = try tx.items.insertPlaceholder(path, kind: .folder, activity: Self.activity)
        return .queued(try context.records.record(.createFolder, of: folder, at: path, for: requester, in: tx).id)
    }

    func request(_ job: Job, mayHaveArrived: Bool) async throws -> ChangeResult<RecordedEffect> {
        let path = job.record.path
        // A folder of this name that somebody else has made is as good.
        if mayHaveArrived, let made = folder(try await afterEarlierChange { try await server.held(at: path) }) {
            return .done(made)
        }
        let outcome = try await server.makeFolder(path)
        let held = try await afterChange { try await server.held(at: path) }
        if let made = folder(held) { return .done(made) }
        if case .done = outcome {
            return .uncertain(
                Failure(
                    .failed, "making the folder \(path) was answered as done, and the server does not show it",
                    hint: "Look at \(path) on the server; what waits for it here goes on when it is certain"),
                .uncertain, seen: held?.item.etag?.opaque ?? "", wasTaken: true)
        }
        return try result(outcome, of: .makeFolder(path))
    }

    private func folder(_ held: HeldItem?) -> ListedItem? {
        guard let held, held.item.kind == .folder, !held.isForeign else { return nil }
        return held.item
    }

    func finish(_ record: SyncRecord, _ made: ListedItem?, in tx: Transaction) throws {
        var item = try item(of: record, in: tx)
        if item.cloudStatus == .localOnly { item.cloudStatus = .localCopy }
        try tx.items.confirm(item, as: made ?? ListedItem(path: record.path, kind: .folder), ending: Self.activity)
        // The folder may have been made by somebody else, with something in it.
        try tx.scan.add(ScanJob(path: item.path, isWhole: false))
    }

    func takeBack(_ record: SyncRecord, of found: Item, in tx: Transaction) throws {
        try context.takeBack.takeBackMaking(record, of: found, in: tx)
    }
}

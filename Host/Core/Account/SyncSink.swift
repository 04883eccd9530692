import Connection
import Database
import ItemPolicies
import Model
import PluginHost
import SyncEngine
import Vault

/// The sink that passes the intents of plugins to the sync engine, which treats them like the requests of persons.
struct SyncSink: IntentSink {
    let engine: SyncEngine
    let clock: HostClock
    let trace: AccountTrace
    /// Returns the facts about the server; nil if nothing is known of it.
    let server: @Sendable (Transaction) throws -> KnownServer?

    func perform(_ intent: Intent, heldBy issue: IssueID?, in transaction: Transaction) throws -> IntentOutcome {
        if case .server(let change) = intent.change {
            return try make(change, for: intent, heldBy: issue, in: transaction)
        }
        guard let request = ActionRequest(intent) else { return .idle }
        let before = transaction.changes?.updated.count
        switch try engine.enqueue(.action(request), in: transaction) {
        case .queued, .waits: return .effective
        case .joined, .done: return transaction.changes?.updated.count != before ? .effective : .idle
        case .refused(let failure):
            // The engine has logged the refused request.
            try trace.dropped(
                request.action.recorded.kind.rawValue,
                path: { try transaction.items.item(localID: request.item)?.path.text }, by: intent.plugin,
                because: failure.message, at: clock.now())
            return .idle
        }
    }

    func download(
        _ items: [LocalID], whileCovered: Bool, for plugin: PluginID, in transaction: Transaction
    ) throws -> Set<LocalID> {
        try engine.enqueueFirstDownloads(
            of: items, for: DownloadTrigger(of: plugin), whileCovered: whileCovered, in: transaction)
    }

    func hold(_ deletions: [LocalID], of plugin: PluginID, in transaction: Transaction) throws -> Issue? {
        try engine.deletions.holdIfTooMany(deletions, by: DownloadTrigger(of: plugin), in: transaction)
    }

    func countDeletions(
        after record: SyncRecordID, of plugin: PluginID, heldBy issue: IssueID?, in transaction: Transaction
    ) throws {
        try engine.deletions.countDeletions(
            after: record, by: DownloadTrigger(of: plugin), heldBy: issue, in: transaction)
    }

    // MARK: Changes of the server

    private func make(
        _ change: PluginChange, for intent: Intent, heldBy issue: IssueID?, in transaction: Transaction
    ) throws -> IntentOutcome {
        var path = ItemPath.root
        if let id = change.item {
            guard let item = try transaction.items.item(localID: id), !item.isRemoved else {
                if case .delete = change { return .idle }
                return .refused("it is no longer on the server")
            }
            path = item.path
        }
        let request: ChangeRequest
        var snapshot: HeldSnapshot?
        switch change {
        case .createFolder(let folder): request = .haveFolder(folder)
        case .move(_, let target): request = .move(path, to: target)
        case .copy(_, let target): request = .copy(path, to: target)
        case .delete: request = .delete(path)
        case .setFavorite(_, let isFavorite):
            if try server(transaction)?.isOwnCloudFamily == false {
                return .refused("only servers of the ownCloud family have favorites")
            }
            request = .setFavorite(path, isFavorite)
        case .upload(let held, let target, let replaces):
            guard let held else { throw Failure(.internal, "An upload has no snapshot") }
            snapshot = held
            request = .put(held.taken, target, replaces: replaces)
        }
        if let refusal = try request.refusal(by: server(transaction)) { return .refused(refusal.message) }
        let requester = ChangeRequester(DownloadTrigger(of: intent.plugin), key: intent.key, issue: issue)
        let before = transaction.changes?.updated.count
        switch try engine.enqueue(.change(request, for: requester), in: transaction) {
        case .queued, .waits:
            snapshot?.handOver()
            return .effective
        case .joined, .done: return transaction.changes?.updated.count != before ? .effective : .idle
        case .refused(let failure): return .refused(failure.message)
        }
    }
}

extension ActionRequest {
    /// Creates the request of an intent; nil if the intent is no action.
    init?(_ intent: Intent) {
        let reason = DownloadTrigger(of: intent.plugin)
        switch intent.change {
        case .download(let item, let whileCovered):
            self.init(.download, item: item, reason: reason, key: intent.key, whileCovered: whileCovered)
        case .update(let item):
            self.init(.download, item: item, reason: reason, key: intent.key, isUpdate: true)
        case .purge(let item): self.init(.purge, item: item, reason: reason, key: intent.key)
        case .removeLocalCopy(let item, let restoring, let unusedSince):
            self.init(
                .removeLocalCopy(restoringFormerTrigger: restoring, unusedSince: unusedSince), item: item,
                reason: reason, key: intent.key)
        case .server, .addPolicy, .updatePolicy, .removePolicy, .putValue, .deleteValue: return nil
        }
    }
}

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
    let trace: TraceWriter?

    func perform(_ intent: Intent, in transaction: Transaction) throws -> Bool {
        guard let request = ActionRequest(intent) else { return false }
        let before = transaction.changes?.updated.count
        guard let outcome = try engine.enqueue([request], in: transaction).first else { return false }
        switch outcome {
        case .queued, .waits: return true
        case .joined, .done: return transaction.changes?.updated.count != before
        case .refused(let failure):
            // The engine has logged the refused request.
            guard let trace else { return false }
            let path = try transaction.items.item(localID: request.item)?.path.text
            trace.dropped(
                request.action.kind.rawValue, path: path, by: intent.plugin, because: failure.message, at: clock.now())
            return false
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
        case .addPolicy, .updatePolicy, .removePolicy, .putValue, .deleteValue: return nil
        }
    }
}

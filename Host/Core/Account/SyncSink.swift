import ItemPolicies
import Logging
import Model
import Storage
import SyncEngine

/// The door by which what plugins ask for enters the sync engine, as what persons ask for does.
struct SyncSink: IntentSink {
    let engine: SyncEngine
    let logger: Logger

    func perform(_ intent: Intent, in transaction: Transaction) throws {
        guard let request = ActionRequest(intent) else { return }
        for outcome in try engine.enqueue([request], in: transaction) {
            guard case .refused(let failure) = outcome else { continue }
            logger.notice(
                "Refused what a plugin asked for: \(failure.message)", metadata: ["plugin": "\(intent.plugin)"])
        }
    }
}

extension ActionRequest {
    /// Nil for what is no action.
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

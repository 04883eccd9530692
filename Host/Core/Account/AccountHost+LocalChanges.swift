import Logging
import Model
import PluginHost
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// Updates the rows to what a person or a program did in the tree, whether while no host ran or just now.
    ///
    /// A copy that was removed by hand is freed. A file that was changed or created locally stays as it is, is shown as
    /// such, and is named once in the log, unless the config says to ignore local changes.
    /// - Parameter scopes: The paths to compare, each with everything below it. No scope lies below another.
    /// - Returns: The findings; nil if moves of the tree are still to be carried out, in which case nothing was
    ///   compared.
    func reconcile(at scopes: [ItemPath] = [.root]) async throws -> Reconciliation? {
        let reconciler = Reconciler(
            database: database, tree: vault.tree, countsAccessTimes: ignoredReaders.isEmpty,
            believed: clock.now())
        let found = try await runBlocking { try reconciler.run(at: scopes) }
        if let found { try await engine.reportUnreadable(found.unreadable, at: scopes) }
        for finding in found?.findings ?? [] {
            switch finding.kind {
            case .modified: tell("The file was changed here. It stays as it is and is not uploaded", finding)
            case .added: tell("The item exists only here. It stays as it is and is not uploaded", finding)
            case .obstructed: logger.warning("Something else is in the place of the item", metadata: finding.metadata)
            case .removed: logger.info("The item was removed here by hand", metadata: finding.metadata)
            case .restored: logger.info("The file has the server's content again", metadata: finding.metadata)
            }
        }
        return found
    }

    private func tell(_ what: Logger.Message, _ finding: TreeFinding) {
        logger.log(level: bookmark.localChanges == .report ? .notice : .debug, what, metadata: finding.metadata)
    }
}

extension TreeFinding {
    fileprivate var metadata: Logger.Metadata { ["path": "\(path)"] }
}

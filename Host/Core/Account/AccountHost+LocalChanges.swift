import Logging
import Model
import PluginHost
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// Brings the rows together with what a person, or a program, did in the tree: while no host looked, or just now.
    ///
    /// A copy that was removed by hand is freed. What was changed or made stays as it is, is shown as such, and is named once in
    /// the log, unless the config says to ignore it.
    /// - Parameter scopes: Where, each with all below it; none of them is below another.
    /// - Returns: what was found; nil, without having looked, while moves of the tree are to be carried out.
    func reconcile(at scopes: [ItemPath] = [.root]) async throws -> Reconciliation? {
        let reconciler = Reconciler(
            database: database, tree: vault.tree, countsAccessTimes: ignoredReaders.isEmpty,
            believed: clock.now())
        let found = try await runBlocking { try reconciler.run(at: scopes) }
        if let found { try await engine.reportUnreadable(found.unreadable, at: scopes) }
        for finding in found?.findings ?? [] {
            switch finding.kind {
            case .modified: tell("It was changed here. It stays as it is and is not uploaded", finding)
            case .added: tell("It is only here. It stays as it is and is not uploaded", finding)
            case .obstructed: logger.warning("Something else lies where the item should be", metadata: finding.metadata)
            case .removed: logger.info("It was removed here by hand", metadata: finding.metadata)
            case .restored: logger.info("It has the server's content again", metadata: finding.metadata)
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

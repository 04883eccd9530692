import Database
import Logging
import Model
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// Finds out, after a restore and once the server's files are listed, which local copies are versions of the
    /// server's files.
    ///
    /// The bytes tell a copy that was downloaded, moved or replaced since the backup from a copy that a person changed:
    /// they are compared with the versions that the backup knew, by the server's id. If a remaining copy is as long as
    /// the server's file, the server's file is fetched beside the copy and compared. It replaces nothing.
    func compareRestored() async throws {
        guard try await database.read({ try $0.meta.integer(.isRestored) }) != nil else { return }
        let known = RestoredCopies(vault: bookmark.vault, database: database, tree: vault.tree)
        let unknown = try await runBlocking { try known.adopt() }
        let engine = engine
        try await database.write { tx in
            // No person requests these downloads, so a copy that turns out to be changed locally raises no question to
            // anybody.
            for item in unknown {
                let request = ActionRequest(.download, item: item, reason: .availableOffline, isProof: true)
                _ = try engine.enqueue(.action(request), in: tx)
            }
            try tx.meta.clear(.isRestored)
        }
        await runBlocking { known.forget() }
        logger.notice(
            "The local copies were compared with the versions that the backup knew",
            metadata: ["fetchedToCompare": "\(unknown.count)"])
    }
}

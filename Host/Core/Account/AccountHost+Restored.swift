import Database
import Logging
import Model
import SyncEngine
import Threads
import Vault

extension AccountHost {
    /// After a restore, once the server's files are listed: finds out which of the copies here are versions of the server's.
    ///
    /// What came, moved or was replaced since the backup is told apart from what a person changed by its bytes: they are compared
    /// with the versions that the backup knew, by the server's id. What is left, and is as long as the server's file, is fetched beside the
    /// copy and compared; it replaces nothing.
    func compareRestored() async throws {
        guard try await database.read({ try $0.meta.integer(.isRestored) }) != nil else { return }
        let known = RestoredCopies(vault: bookmark.vault, database: database, tree: vault.tree)
        let unknown = try await runBlocking { try known.adopt() }
        let engine = engine
        try await database.write { tx in
            // No person asks: what turns out to be changed here is no question to anybody.
            let requests = unknown.map { ActionRequest(.download, item: $0, reason: .availableOffline, isProof: true) }
            _ = try engine.enqueue(requests, in: tx)
            try tx.meta.clear(.isRestored)
        }
        await runBlocking { known.forget() }
        logger.notice(
            "The local copies were compared with the versions that the backup knew",
            metadata: ["fetchedToCompare": "\(unknown.count)"])
    }
}

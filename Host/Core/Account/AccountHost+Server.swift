import Connection
import Database
import ItemList
import LocalTree
import Model
import Vault

/// The facts about the account's server, kept in the vault.
extension AccountHost {
    /// Returns the stored facts about the server, or nil if they must be found out anew. They are valid if they are at
    /// most a day old, are about this account and the last secret that worked, and nothing has failed since. Their age
    /// does not matter while a rejected secret is tried again.
    func keptServer() async throws -> KnownServer? {
        let now = clock.now()
        let secrets = session.secrets
        let secret = WorkedSecret(bookmark, writing: secrets.current.writing, at: now)
        return try await database.read { [bookmark] tx in
            guard let known = try tx.meta.json(KnownServer.self, .server), known.isOf(bookmark), !known.isStale else {
                return nil
            }
            let isRefused = try tx.meta.text(.refusal) != nil
            guard isRefused || known.isRecent(for: bookmark, now: now) else { return nil }
            let worked = try tx.meta.json(WorkedSecret.self, .workedSecret)?.isSame(as: secret) ?? false
            return secrets.hasWorked ?? worked ? known : nil
        }
    }

    /// Stores the connection's facts about the server.
    func keepServer() async throws {
        guard let known = connection.known else { return }
        try await database.write { try $0.meta.set(.server, json: known) }
    }

    /// Marks the stored facts about the server as stale after a failure, so that they are found out anew.
    func distrustServer() async throws {
        try await database.write { tx in
            guard var known = try tx.meta.json(KnownServer.self, .server), !known.isStale else { return }
            known.isStale = true
            try tx.meta.set(.server, json: known)
        }
    }
}

extension MetaKey {
    /// The facts about the server.
    static let server = MetaKey("server")
}

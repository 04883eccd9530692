import Connection
import Database
import ItemList
import LocalTree
import Model
import Vault

/// What was found out about the account's server, kept in the vault.
extension AccountHost {
    /// What is known of the server, if it need not be found out anew: it is not older than a day, and for this account, the last secret that
    /// worked and nothing that failed since. While a secret is tried again that was refused, its age does not matter.
    func keptServer() async throws -> KnownServer? {
        let now = clock.now()
        let secret = WorkedSecret(bookmark, writing: state.secret.writing, at: now)
        return try await database.read { [bookmark, state] tx in
            guard let known = try tx.meta.json(KnownServer.self, .server), known.isOf(bookmark), !known.isStale else {
                return nil
            }
            let isRefused = try tx.meta.text(.refusal) != nil
            guard isRefused || known.isRecent(for: bookmark, now: now) else { return nil }
            let worked = try tx.meta.json(WorkedSecret.self, .workedSecret)?.isSame(as: secret) ?? false
            return state.hasWorked ?? worked ? known : nil
        }
    }

    /// Stores what the connection knows of the server.
    func keepServer() async throws {
        guard let known = connection.known else { return }
        try await database.write { try $0.meta.set(.server, json: known) }
    }

    /// Something failed: what is known of the server is found out anew.
    func distrustServer() async throws {
        try await database.write { tx in
            guard var known = try tx.meta.json(KnownServer.self, .server), !known.isStale else { return }
            known.isStale = true
            try tx.meta.set(.server, json: known)
        }
    }
}

extension MetaKey {
    /// What was found out about the server.
    static let server = MetaKey("server")
}

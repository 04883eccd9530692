import Connection
import Database
import EventLoops
import FoundationEssentials
import ItemList
import LocalTree
import Logging
import Model
import SyncEngine
import Threads
import Vault

/// The host's behavior while the server rejects the account's credentials.
extension AccountHost {
    /// Notes that the server was reached and accepted the secret.
    func noteAccepted() async throws {
        tell { $0.secretWorked() }
        let now = WorkedSecret(bookmark, writing: session.secrets.current.writing, at: clock.now())
        try await database.write { tx in
            let known = try tx.meta.json(WorkedSecret.self, .workedSecret)
            let isRecent = known.map { now.isSame(as: $0) && abs(now.at - $0.at) < 86_400_000_000_000 } ?? false
            if !isRecent { try tx.meta.set(.workedSecret, json: now) }
            try tx.meta.clear(.refusal)
            try tx.removeApprovalIssues()
        }
        try await engine.accountChanged()
    }

    /// Forgets that a server rejected the account, which has another address or login name now.
    static func forgetRefusal(_ database: Database, _ engine: SyncEngine) async throws {
        try await database.write { tx in
            try tx.meta.clear(.refusal)
            try tx.removeApprovalIssues()
        }
        try await engine.accountChanged()
    }

    /// Notes that the server rejects the account's credentials: opens one issue, has the status say why and until when,
    /// and has all further requests stop.
    /// - Parameters:
    ///   - failure: The server's answer.
    ///   - next: The time of the next attempt; nil if it is not known.
    func noteRefused(_ failure: Failure, nextTry next: Timestamp? = nil) async throws {
        tell { $0.refuse(because: failure) }
        try await engine.reportAccount(failure)
        let now = clock.now()
        try await database.write { tx in
            let since = try tx.meta.json(AuthenticationFailure.self, .refusal)?.since ?? now
            try tx.meta.set(
                .refusal, json: AuthenticationFailure(message: failure.message, since: since, nextTry: next))
        }
    }

    /// Holds everything that sends requests to the server, and has the status say why and until when.
    func holdRequests() async throws {
        let mayPass = try await mayPass()
        let next = tell { [clock] in $0.hold(mayPass: mayPass, at: clock.monotonic()) }
        let nextTry = next.map { clock.now() + ($0 - clock.monotonic()) }
        await loops.suspend()
        try await noteSession()
        let rejection = session.rejection
        if let error = rejection?.unapproved {
            try await noteUnapproved(error, isNews: false, nextTry: nextTry)
        } else {
            try await noteRefused(
                connection.refusal?.failure ?? rejection?.failure ?? .notAccepted, nextTry: nextTry)
        }
    }

    /// Tells whether the rejection may pass by itself: either the secret worked before, or the server did not reject
    /// the secret at all.
    func mayPass() async throws -> Bool {
        guard connection.refusal != nil else { return true }
        let secrets = session.secrets
        if let known = secrets.hasWorked { return known }
        let now = WorkedSecret(bookmark, writing: secrets.current.writing, at: clock.now())
        return try await database.read { try $0.meta.json(WorkedSecret.self, .workedSecret) }?.isSame(as: now) ?? false
    }

    /// Checks, until the task is cancelled, whether the secret was written anew while the server rejects it for
    /// calendars or shares alone. If so, the calendars or shares are requested at once.
    func followSecret() async throws {
        while true {
            await state.loopRefusals.wait()
            try Task.checkCancellation()
            while loops.areRefused, !session.isRefused {
                let last = session.secrets.newest
                // The interval is the same as for an account whose credentials are rejected altogether.
                try await clock.sleep(last.writing == nil ? PollInterval.standard : .seconds(2))
                if last.writing != nil, await !isWrittenAnew(since: last.writing) { continue }
                let secret = await readSecret()
                guard !session.isRefused, secret.writing != last.writing || secret.credentials != last.credentials
                else {
                    continue
                }
                tell { $0.offer(secret) }
            }
        }
    }

    /// Makes all further requests use another secret, beginning with the search for the account's location on the
    /// server. Everything that sends requests is paused meanwhile.
    func use(_ secret: AccountSecret) async {
        await loops.suspend()
        tell { $0.use(secret) }
        connection.use(secret.credentials, proxyLogin: secret.proxyLogin)
    }

    /// Returns the secret as its source has it now, or the last secret if the source cannot be read.
    func readSecret() async -> AccountSecret {
        do { return try await credentials() } catch {
            logger.warning("\(error)")
            return session.secrets.current
        }
    }

    /// Tells whether the secret's source was written since `writing`; false if the source cannot be read.
    func isWrittenAnew(since writing: String?) async -> Bool {
        do { return try await credentials().writing != writing } catch { return false }
    }
}

extension MetaKey {
    /// A description of the last secret that worked, without the secret itself.
    static let workedSecret = MetaKey("workedSecret")
    /// The last failed authentication; present while the server rejects the account's credentials.
    static let refusal = MetaKey("refusal")
}

extension MetaTable {
    /// Returns a value that was stored as JSON; nil if there is none, or if another version of Larder stored it.
    func json<Value: Decodable>(_ type: Value.Type, _ key: MetaKey) throws -> Value? {
        guard let text = try text(key) else { return nil }
        do { return try JSONDecoder().decode(type, from: Data(text.utf8)) } catch { return nil }
    }
}

extension MetaTable where Access == Transaction {
    /// Stores a value as JSON.
    func set(_ key: MetaKey, json value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try set(key, String(decoding: try encoder.encode(value), as: UTF8.self))
    }
}

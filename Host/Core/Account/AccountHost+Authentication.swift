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

/// What happens while the server refuses the account.
extension AccountHost {
    /// The server was reached, and took the secret.
    func noteAccepted() async throws {
        state.noteWorked()
        let now = WorkedSecret(bookmark, writing: state.secret.writing, at: clock.now())
        try await database.write { tx in
            let known = try tx.meta.json(WorkedSecret.self, .workedSecret)
            let isRecent = known.map { now.isSame(as: $0) && abs(now.at - $0.at) < 86_400_000_000_000 } ?? false
            if !isRecent { try tx.meta.set(.workedSecret, json: now) }
            try tx.meta.clear(.refusal)
        }
        try await engine.accountChanged()
    }

    /// The server refuses the account: one issue, the status says why and until when, and nothing more is asked.
    /// - Parameter next: when it is asked again; nil: that is not known.
    func noteRefused(_ failure: Failure, nextTry next: Timestamp? = nil) async throws {
        state.refuse(failure)
        engine.setOnline(false)
        try await engine.reportAccount(failure)
        let now = clock.now()
        try await database.write { tx in
            let since = try tx.meta.json(AuthenticationFailure.self, .refusal)?.since ?? now
            try tx.meta.set(.refusal, json: AuthenticationFailure(message: failure.message, since: since, nextTry: next))
        }
    }

    /// Pauses what asks the server, and has the status say why and until when.
    func pause(_ refused: AuthenticationRetry) async throws {
        let why = connection.refusal?.failure ?? state.refusedBecause
        let failure = why ?? Failure(.denied, "the server does not accept the account")
        await loops.suspend()
        try await setOffline()
        try await noteRefused(failure, nextTry: refused.nextTry.map { clock.now() + ($0 - clock.monotonic()) })
    }

    /// Whether the refusal may pass by itself: the secret worked before, or it was not refused at all.
    func mayPass() async throws -> Bool {
        guard connection.refusal != nil else { return true }
        if let known = state.hasWorked { return known }
        let now = WorkedSecret(bookmark, writing: state.secret.writing, at: clock.now())
        return try await database.read { try $0.meta.json(WorkedSecret.self, .workedSecret) }?.isSame(as: now) ?? false
    }

    /// While the server refuses the secret for calendars or shares alone, looks whether it was written anew, until the task is cancelled:
    /// then these are asked for at once.
    func followSecret() async throws {
        while true {
            await state.loopRefusals.wait()
            try Task.checkCancellation()
            while loops.areRefused, !state.isRefused {
                let last = state.newestSecret
                // As often as for an account that is refused as a whole.
                try await clock.sleep(last.writing == nil ? PollInterval.standard : .seconds(2))
                if last.writing != nil, await !isWrittenAnew(since: last.writing) { continue }
                let secret = await readSecret()
                guard !state.isRefused, secret.writing != last.writing || secret.credentials != last.credentials else {
                    continue
                }
                state.offer(secret)
                state.scanRequests.send()
            }
        }
    }

    /// Has the server asked with another secret, beginning with where the account is. All that asks it is at rest meanwhile.
    func use(_ secret: AccountSecret) async {
        await loops.suspend()
        engine.setOnline(false)
        state.retry(with: secret)
        connection.use(secret.credentials)
    }

    /// The secret as its source has it now; the last one if that cannot be read.
    func readSecret() async -> AccountSecret {
        do { return try await credentials() } catch {
            logger.warning("\(error)")
            return state.secret
        }
    }

    /// Whether the secret's source was written since, as far as it can be told.
    func isWrittenAnew(since writing: String?) async -> Bool {
        do { return try await credentials().writing != writing } catch { return false }
    }
}

extension MetaKey {
    /// The last secret that worked, without the secret.
    static let workedSecret = MetaKey("workedSecret")
    /// That the server refuses the account.
    static let refusal = MetaKey("refusal")
}

extension MetaTable {
    /// A value that was stored as JSON; nil if there is none, or another Larder's.
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

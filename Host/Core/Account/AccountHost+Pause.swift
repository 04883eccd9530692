import Connection
import Database
import EventLoops
import ItemList
import Logging
import Model
import SyncEngine
import Threads
import Vault

/// Pauses of a running account.
extension AccountHost {
    /// The account's pause; nil if the account is not paused.
    public var pause: AccountPause? { session.pause }

    /// The failure of what needs the server while the account is paused; nil if it is not.
    var pauseFailure: Failure? { pause.map { Failure($0) } }

    /// Takes over the pause that an earlier host left, if it is not over.
    func restorePause() async throws {
        let now = clock.now()
        let left = try await database.write { tx -> (AccountPause, Duration?)? in
            guard let pause = try tx.meta.json(AccountPause.self, .pause) else { return nil }
            let left = pause.left(at: now)
            guard left != .zero else {
                try tx.meta.clear(.pause)
                return nil
            }
            return (pause, left)
        }
        tell { [clock] in $0.start(paused: left?.0, left: left?.1, at: clock.monotonic()) }
        if let pause = left?.0 { tell(pause) }
    }

    /// Pauses the account, or changes the end of its pause. When the function returns, nothing sends requests any more.
    /// - Parameter length: The length of the pause; nil if it lasts until a person ends it.
    /// - Throws: `.failed` if the account is not kept up to date.
    func beginPause(for length: Duration?) async throws -> AccountPause {
        let pause = try await changePause { session in
            guard session.isKept else {
                throw Failure(
                    .failed, "a single run of the account is in progress, which cannot be paused",
                    hint: "wait until it has ended, or stop it")
            }
            let pause = AccountPause(for: length, at: clock.now())
            let end = length.map { clock.monotonic() + $0 }
            try await database.write { try $0.meta.set(.pause, json: pause) }
            tell { $0.begin(pause, until: end) }
            return pause
        }
        tell(pause)
        try await state.session.waitUnlessCancelled { $0.isHeld || !$0.isPaused }
        return pause
    }

    /// Ends the account's pause. The server is polled at once.
    /// - Returns: Whether the account was paused.
    func resume() async throws -> Bool {
        try await changePause { session in
            try await clearPause()
            return session.isPaused
        }
    }

    /// Ends the pause whose time is over.
    func endPause(ifUnchangedSince changes: Int) async throws {
        try await changePause { session in if session.changes == changes { try await clearPause() } }
    }

    private func clearPause() async throws {
        try await database.write { try $0.meta.clear(.pause) }
        if tell({ $0.resume() }) { logger.notice("The pause is over") }
    }

    /// Changes the pause in the database and in memory, while nobody else does.
    private func changePause<T>(_ change: (ServerSession) async throws -> T) async throws -> T {
        try await state.isChangingPause.take()
        defer { state.isChangingPause.release() }
        return try await change(session)
    }

    private func tell(_ pause: AccountPause) {
        let until = pause.until.map { "until \(Timestamp(seconds: $0.seconds))" } ?? "until it is resumed"
        logger.notice("The account is paused \(until)")
    }
}

import Core
import Model
import Threads

/// The wait for another process that has a vault open: a command until it has ended, a host until it answers.
struct VaultWait {
    private static let pause = Duration.milliseconds(100)
    private let console: Console
    private let clock: HostClock
    private var tries = 0
    /// The time since which a host has the vault open and does not answer.
    private var unanswered: Duration?

    init(_ console: Console, clock: HostClock = .system) { (self.console, self.clock) = (console, clock) }

    /// Waits a moment if another process carries out a command with the vault, which it will soon have done. Says so once.
    /// - Returns: false if no process has the vault open, or one that will have it for long.
    mutating func goesOnForCommand(with account: AccountConfig) async throws(Failure) -> Bool {
        guard await runBlocking({ AccountRemains.areInUse(account.bookmark) }),
            await AccountReader.lastHolder(of: account.bookmark)?.control == VaultHolder.Control.none
        else { return false }
        return try await goesOn(for: account)
    }

    /// Waits a moment, and says so once.
    /// - Returns: false if the process that has the vault open will have it for long and takes no commands.
    /// - Throws: `vaultLocked` if that process is a host that answered nowhere for ``RunningHost/longestSilence``. A host
    ///   whose socket was removed makes it anew before.
    mutating func goesOn(for account: AccountConfig) async throws(Failure) -> Bool {
        guard let holder = await AccountReader.lastHolder(of: account.bookmark), holder.control != .unknown else {
            return false
        }
        let now = clock.monotonic()
        if case .socket = holder.control {
            let since = unanswered ?? now
            unanswered = since
            if now - since >= RunningHost.longestSilence, let lost = await RunningHost.lost(account) { throw lost }
        } else {
            unanswered = nil
        }
        tries += 1
        if tries == 20 {
            console.note("larder: waiting for process \(holder.process), which has the vault open", as: .info)
        }
        do { try await clock.sleep(Self.pause) } catch { return false }
        return true
    }
}

extension RunningHost {
    /// Returns the failure to report if a host has an account's vault open and nobody answers at its socket; nil if no
    /// host has it open.
    static func lost(_ account: AccountConfig) async -> Failure? {
        let bookmark = account.bookmark
        guard let holder = await AccountReader.lastHolder(of: bookmark), case .socket(let path) = holder.control,
            AccountRemains.areInUse(bookmark)
        else { return nil }
        return Failure(
            .vaultLocked,
            "\(bookmark.name): process \(holder.process) runs the account, and does not answer at \(path)",
            hint:
                "A host makes a socket that was removed anew within seconds; if it goes on so, end the process and start "
                + "`larder run` again")
    }

    /// Has the host that runs an account, or waits for it, do something.
    /// - Parameter ask: asks the host; it returns nil if the host does not run any more.
    /// - Throws: `unreachable` if no host runs the account, as ``VaultWait/goesOn(for:)``, and the error of `ask`.
    static func ask<Answer>(
        for account: AccountConfig, in config: String, _ console: Console,
        _ ask: (RunningHost) async throws(Failure) -> Answer?
    ) async throws(Failure) -> Answer {
        var waiting = VaultWait(console)
        while true {
            if let host = await RunningHost(of: account, in: config, evenWaiting: true),
                let answer = try await ask(host)
            {
                return answer
            }
            guard await lost(account) != nil, try await waiting.goesOn(for: account) else {
                throw .noHost(for: account.bookmark.name)
            }
        }
    }
}

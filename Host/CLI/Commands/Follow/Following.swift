import Core
import Glibc
import Model
import Threads

/// What the commands share that print what running hosts tell of accounts, until they are ended.
struct Following: Sendable {
    /// The time in which what was read is written, after the command was ended.
    private static let grace = Duration.seconds(2)

    let accounts: [AccountConfig]
    /// The absolute path of the config.
    let config: String
    let console: Console
    /// What the command follows, as the end of a sentence.
    let subject: String

    /// Follows until a signal ends the command, nobody reads its output any more, or a host ends. An account that no host
    /// runs does not end the others.
    /// - Parameters:
    ///   - request: Asks the host of an account, with the header fields that it is given, and prints what comes. Returns
    ///     false if the host does not run any more.
    ///   - close: Writes what is left to write when nothing more comes. May block.
    /// - Returns: Why it ended; nothing if a person ended it.
    /// - Throws: `localIO` if the system lacks a thread or a descriptor.
    func untilEnded(
        _ request: @escaping @Sendable (RunningHost, AccountConfig, [String: String]) async throws(Failure) -> Bool,
        closing close: @escaping @Sendable () -> Failure? = { nil }
    ) async throws(Failure) -> [Failure] {
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP)
        return await withTaskGroup(of: Failure?.self) { group in
            for account in accounts { group.addTask { await follow(account, request) } }
            group.addTask {
                for await _ in ends { break }
                return nil
            }
            group.addTask { [console] in
                // A reader that has closed a pipe is noticed also while nothing changes.
                while !Task.isCancelled, !console.isReaderGone {
                    do { try await Task.sleep(for: .seconds(1)) } catch { return nil }
                }
                return nil
            }
            let failure = await firstEnd(of: &group)
            group.cancelAll()
            let failures = [failure, await runBlocking(close)].compactMap(\.self)
            // A reader that has stopped reading must not keep the command.
            let limit = Task {
                try await Task.sleep(for: Self.grace)
                _exit(Failure.Kind.worst(of: failures.map(\.kind))?.rawValue ?? 0)
            }
            await group.waitForAll()
            limit.cancel()
            return failures
        }
    }

    /// Waits until there is nothing more to follow.
    private func firstEnd(of group: inout TaskGroup<Failure?>) async -> Failure? {
        var left = accounts.count
        while let end = await group.next(), let failure = end {
            left -= 1
            guard failure.kind == .unreachable, left > 0 else { return failure }
            console.note("larder: \(failure.message)")
        }
        return nil
    }

    /// - Returns: Why there is no more.
    private func follow(
        _ account: AccountConfig,
        _ request: @Sendable (RunningHost, AccountConfig, [String: String]) async throws(Failure) -> Bool
    ) async -> Failure {
        let ended = Failure(.failed, "the host has ended", hint: "start `larder run` again, then \(subject)")
        do throws(Failure) {
            try await RunningHost.ask(for: account, in: config, console) { host throws(Failure) in
                try await request(host, account, [ControlField.account: account.digest]) ? () : nil
            }
            return ended
        } catch {
            return error.message == ControlClient.cutOff.message ? ended : error
        }
    }
}

import Core
import Glibc
import Model
import Threads

/// What the commands share that print what a running host tells of one account, until they are ended.
struct Following {
    /// The time in which what was read is written, after the command was ended.
    private static let grace = Duration.seconds(2)

    let account: AccountConfig
    /// The absolute path of the config.
    let config: String
    let console: Console
    /// What the command follows, as the end of a sentence.
    let subject: String

    /// Follows until a signal ends the command, nobody reads its output any more, or the host ends.
    /// - Parameters:
    ///   - request: Asks a host, with the header fields that it is given, and prints what comes. Returns false if the host
    ///     does not run any more.
    /// - Returns: Why it ended; nothing if a person ended it.
    /// - Throws: `localIO` if the system lacks a thread or a descriptor.
    func untilEnded(
        _ request: @escaping @Sendable (RunningHost, [String: String]) async throws(Failure) -> Bool
    ) async throws(Failure) -> [Failure] {
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP)
        return await withTaskGroup(of: Failure?.self) { group in
            group.addTask { await follow(request) }
            group.addTask {
                for await _ in ends { break }
                return nil
            }
            group.addTask { [console] in
                // A reader that has closed a pipe is noticed also while nothing changes.
                while !Task.isCancelled, !console.isOutputClosed {
                    do { try await Task.sleep(for: .seconds(1)) } catch { return nil }
                }
                return nil
            }
            let failure = await group.next() ?? nil
            group.cancelAll()
            // A reader that has stopped reading must not keep the command.
            let limit = Task {
                try await Task.sleep(for: Self.grace)
                _exit(failure?.kind.rawValue ?? 0)
            }
            await group.waitForAll()
            limit.cancel()
            return [failure].compactMap(\.self)
        }
    }

    /// - Returns: Why there is no more.
    private func follow(
        _ request: @Sendable (RunningHost, [String: String]) async throws(Failure) -> Bool
    ) async -> Failure {
        let ended = Failure(.failed, "the host has ended", hint: "start `larder run` again, then \(subject)")
        do throws(Failure) {
            try await RunningHost.ask(for: account, in: config, console) { host throws(Failure) in
                try await request(host, [ControlField.account: account.digest]) ? () : nil
            }
            return ended
        } catch {
            return error.message == ControlClient.cutOff.message ? ended : error
        }
    }
}

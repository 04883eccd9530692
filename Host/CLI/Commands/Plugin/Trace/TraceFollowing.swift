import Core
import Glibc
import Model
import Threads

/// `larder plugin trace` at work: it follows the calls into a plugin for each account, until it is ended.
struct TraceFollowing: Sendable {
    /// The time in which what was read is written, after the command was ended.
    private static let grace = Duration.seconds(2)

    /// The absolute path of the config.
    let config: String
    let accounts: [AccountConfig]
    let plugin: PluginID
    /// The names of the accounts for which the config does not enable the plugin.
    let disabled: Set<String>
    let console: Console
    let calls: TracedCalls

    /// Follows the calls until a signal ends the command, nobody reads its output any more, or a host ends.
    /// - Returns: Why it ended; nothing if a person ended it.
    func run() async throws(Failure) -> [Failure] {
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP)
        return await withTaskGroup(of: Failure?.self) { group in
            for account in accounts { group.addTask { await follow(account) } }
            group.addTask {
                for await _ in ends { break }
                return nil
            }
            group.addTask { [console] in
                // A reader that has closed a pipe is noticed also while nothing is called.
                while !Task.isCancelled, !console.isReaderGone {
                    do { try await Task.sleep(for: .seconds(1)) } catch { return nil }
                }
                return nil
            }
            let failure = await firstEnd(of: &group)
            group.cancelAll()
            let closed = await runBlocking { [calls] in calls.close() }
            let failures = [failure, closed].compactMap(\.self)
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

    /// Waits until there is nothing more to follow. An account that no host runs does not end the others.
    private func firstEnd(of group: inout TaskGroup<Failure?>) async -> Failure? {
        var left = accounts.count
        while let end = await group.next(), let failure = end {
            left -= 1
            guard failure.kind == .unreachable, left > 0 else { return failure }
            console.note("larder: \(failure.message)")
        }
        return nil
    }

    /// Follows the calls for an account.
    /// - Returns: Why there are no more.
    private func follow(_ account: AccountConfig) async -> Failure {
        let name = account.bookmark.name
        do throws(Failure) {
            try await RunningHost.ask(for: account, in: config, console) { host throws(Failure) in
                let isOver = try await host.trace(plugin, of: name) { events throws(Failure) in
                    try await take(events, of: name)
                }
                return isOver ? () : nil
            }
            return Self.ended
        } catch {
            return error.message == ControlClient.cutOff.message ? Self.ended : error
        }
    }

    private static let ended = Failure(
        .failed, "the host has ended", hint: "`larder run` starts one, whose calls can be followed again")

    private func take(_ events: [TracedEvent], of name: String) async throws(Failure) {
        let result = await runBlocking { () -> Result<Void, Failure> in
            do throws(Failure) { return .success(try calls.add(events, of: name)) } catch { return .failure(error) }
        }
        try result.get()
        for case .begin(let known) in events {
            let place = accounts.count > 1 ? " for the account `\(name)`" : ""
            console.note("larder: following the calls into \(plugin.shortName)\(place)\(remark(known, name))")
        }
    }

    /// Returns why there are no calls, if that is known.
    private func remark(_ known: JSONValue, _ account: String) -> String {
        if disabled.contains(account) { return ", which is disabled" }
        guard case .string(let name)? = known["state"], let state = PluginReport.State(rawValue: name),
            ![.ready, .running, .degraded].contains(state)
        else { return "" }
        guard case .string(let reason)? = known["reason"] else { return ", which is \(name)" }
        return ", which is \(name): \(reason)"
    }
}

import Core
import Model
import Threads

/// `larder plugin trace` at work: it follows the calls into a plugin for each account, until it is ended.
struct TraceFollowing: Sendable {
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
        let following = Following(
            accounts: accounts, config: config, console: console, subject: "its calls can be followed again")
        return try await following.untilEnded { host, account, _ throws(Failure) in
            let name = account.bookmark.name
            return try await host.trace(plugin, of: name) { events throws(Failure) in try await take(events, of: name) }
        } closing: { [calls] in
            calls.close()
        }
    }

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

import ArgumentParser
import Core
import Model

struct Pause: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Have the running host hold transfers and polls.",
        discussion: """
            Nothing is sent to the server of an account that is paused; downloads under way stop, and go on later from \
            where they are. Other commands work, and queue what needs the server. Without --for the pause lasts until \
            `larder resume`, also over a restart of the host. Another `pause` replaces its end. `run --once` and \
            commands without a host are not held. The exit code is 69 if no host runs.
            """)

    @OptionGroup var global: GlobalOptions
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("End the pause after this time, such as 90s, 10m or 2h.", valueName: "duration"))
    var length: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let length = try length.map { text throws(Failure) in try CLIArgument.duration(text, of: "--for") }
        guard length != .zero else { throw Failure(.usage, "--for: a pause must be longer than nothing") }
        return try await Pauses.Begin(for: length).carryOut(global, console)
    }
}

struct Resume: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Have the running host go on after a pause.",
        discussion: """
            The host polls the server at once. The exit code is 0 also if the account was not paused, and 69 if no host \
            runs.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await Pauses.End().carryOut(global, console)
    }
}

extension AccountCommand where Answer == PauseOutcome {
    /// Has the running hosts carry out the command for the accounts that the command line is about, and prints the
    /// answers.
    /// - Returns: a failure for each account for which that was not possible.
    fileprivate func carryOut(_ global: GlobalOptions, _ console: Console) async throws(Failure) -> [Failure] {
        var failures: [Failure] = []
        let config = try global.loadConfig()
        for account in try config.namedAccounts() {
            let name = account.bookmark.name
            do throws(Failure) {
                let outcome = try await RunningHost.ask(for: account, in: config.file, console) {
                    host throws(Failure) in
                    try await host.carryOut(self, for: account) { _ in }
                }
                console.print(global.isJSON ? JSONValue(outcome, of: name).text : "\(name): \(outcome.words)")
            } catch {
                failures.append(error)
            }
        }
        return failures
    }
}

extension Failure {
    /// The failure of a command that needs a running host.
    static func noHost(for account: String) -> Failure {
        Failure(.unreachable, "no host runs for the account `\(account)`", hint: "`larder run` starts one")
    }
}

extension PauseOutcome {
    fileprivate var words: String {
        if isPaused { return until.map { "paused until \(Text.time($0))" } ?? "paused until `larder resume`" }
        return changed ? "goes on" : "was not paused"
    }
}

import ArgumentParser
import Logging
import Model

/// The options that every command has; they may also stand before the command.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The config file. Else LARDER_CONFIG, else $XDG_CONFIG_HOME/larder/config.yaml.", valueName: "file"))
    var configFile: String?

    @Option(
        help: ArgumentHelp("The account, by its name in the config. Needed if there are several.", valueName: "name"))
    var account: String?

    @Flag(name: .customLong("json"), help: "Print one JSON object a line.")
    var isJSON = false

    @Option(help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    var request: Config.Request { Config.Request(file: configFile, account: account, logLevel: logLevel) }

    func loadConfig() throws(Failure) -> Config {
        _ = try level()
        return try Config.load(request, environment: processEnvironment())
    }

    /// - Throws: `usage` if there is no such level.
    func level() throws(Failure) -> Logger.Level? {
        guard let logLevel else { return nil }
        do {
            return try ConfigScalar.word(logLevel, of: Logger.Level.self)
        } catch {
            throw Failure(.usage, "--log-level: \(error.message)")
        }
    }
}

/// A command of the program.
protocol LarderCommand: AsyncParsableCommand {
    var global: GlobalOptions { get }

    /// Does what the command is for.
    /// - Returns: what failed though the command went on; it is printed, and the worst makes the exit code.
    func perform(_ console: Console) async throws(Failure) -> [Failure]
}

extension Config {
    func warn(_ console: Console) {
        for warning in warnings { console.note("larder: \(warning)") }
    }

    /// The accounts that a command for all of them is about: the one that was named, else all.
    func namedAccounts() throws(Failure) -> [AccountConfig] {
        guard let accountName else { return accounts }
        guard let account = accounts.first(where: { $0.bookmark.name == accountName }) else {
            let names = accounts.map(\.bookmark.name)
            throw Failure(
                .usage, "there is no account `\(accountName)` in \(file)",
                hint: "the accounts are: \(names.joined(separator: ", "))")
        }
        return [account]
    }

    /// The account that a command for one of them is about.
    func oneAccount() throws(Failure) -> AccountConfig {
        let named = try namedAccounts()
        guard named.count == 1, let account = named.first else {
            let names = accounts.map(\.bookmark.name).joined(separator: ", ")
            throw Failure(.usage, "there are several accounts", hint: "name one with --account: \(names)")
        }
        return account
    }
}

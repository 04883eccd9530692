import ArgumentParser
import Core
import Logging
import Model

/// The options that every command has. They may also stand before the command.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp(
            "The config file. Default: $LARDER_CONFIG, else $XDG_CONFIG_HOME/larder/config.yaml.", valueName: "file"),
        completion: .file())
    var configFile: String?

    @Option(
        help: ArgumentHelp("The account, by its name in the config. Required if there are several.", valueName: "name"),
        completion: .accountName)
    var account: String?

    @Flag(name: .customLong("json"), help: "Print one JSON object per line.")
    var isJSON = false

    @Option(
        help: ArgumentHelp(
            "The least severe log level: trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: String?

    var request: Config.Request { Config.Request(file: configFile, account: account, logLevel: logLevel) }

    func loadConfig() throws(Failure) -> Config {
        _ = try level()
        return try Config.load(request, environment: processEnvironment())
    }

    /// The purpose for which a command opens the plugins.
    enum Purpose {
        /// The work of one command. The log names the plugins that cannot be used for a reason other than their
        /// settings.
        case work
        /// Running the accounts. If something is wrong with the config, the command also reports the secrets and
        /// certificates that are missing. Otherwise each account reports its own missing secret or certificate, and the
        /// other accounts run.
        case run
        /// Applying a changed config to running accounts. Secrets and certificates that are missing are problems too,
        /// because the accounts go on with what they have.
        case reload
        /// Reporting what is wrong with the config and with the files that the config names, and nothing else.
        case validation
    }

    /// Reads the config and opens the plugins that the config enables, for a command that starts them.
    /// - Parameters:
    ///   - options: makes the options of the host process; nil makes those of this program, with the config's log.
    ///   - choose: chooses the accounts that the command is about.
    /// - Throws: `config` with all problems of the config and of these plugins' settings; after that, the error that
    ///   `choose` throws.
    func openPlugins<Accounts>(
        _ console: Console, for purpose: Purpose = .work, options: ((Config) -> HostOptions)? = nil,
        choosing choose: (Config) throws(Failure) -> Accounts
    ) async throws(Failure) -> (config: Config, accounts: Accounts, process: HostProcess) {
        _ = try level()
        let draft = try Config.draft(request, environment: processEnvironment())
        var options = options?(draft) ?? draft.hostOptions(console)
        // While the config has problems, the log of the plugins is not of interest.
        if purpose == .validation || !draft.problems.isEmpty { options.logger.logLevel = .critical }
        let process = HostProcess(settings: draft.checkable.settings, options: options)
        let reports =
            if draft.problems.isEmpty, let account = draft.firstMeant {
                await process.pluginReports(before: account.bookmark)
            } else {
                await process.pluginReports()
            }
        do throws(Failure) {
            var problems = reports.flatMap(draft.problems)
            let isWrong = !(draft.problems.isEmpty && problems.isEmpty)
            if purpose == .validation { problems += reports.compactMap(draft.schemaProblem) }
            if purpose == .validation || purpose == .reload || purpose == .run && isWrong {
                for check in draft.laterChecks { if let problem = await check() { problems.append(problem) } }
            }
            let config = try draft.whole(problems)
            return (config, try choose(config), process)
        } catch {
            try await process.close()
            throw error
        }
    }

    /// Returns the log level that `--log-level` names; nil if the option is absent.
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

extension Config {
    /// The config with which the plugins' settings are checked. If the config has problems, only plugins that have
    /// settings to check stay enabled. A plugin whose own part of the config is wrong is disabled, because nobody knows
    /// whether it is meant to be enabled.
    var checkable: Config {
        if problems.isEmpty { return self }
        var config = self
        for index in config.settings.plugins.indices {
            let id = config.settings.plugins[index].id
            let written = [pluginSettings[id]].compactMap(\.self) + (pluginOverrides[id] ?? [:]).values.map(\.own)
            if pluginSettings[id] == nil || written.allSatisfy(\.pairs.isEmpty) {
                config.settings.plugins[index].isEnabled = false
                config.settings.plugins[index].overrides = [:]
            }
        }
        return config
    }

    /// The first account that the command is about.
    fileprivate var firstMeant: AccountConfig? {
        accounts.first { accountName == nil || $0.bookmark.name == accountName }
    }

    func warn(_ console: Console) {
        for warning in warnings { console.note("larder: \(warning)", as: .warning) }
    }

    /// Returns the accounts that a command for several accounts is about: the account that was named, else all
    /// accounts.
    /// - Throws: `usage` if there is no account of that name.
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

    /// Returns the account that a command for a single account is about.
    /// - Throws: `usage` if there is no account of the given name, or if there are several accounts and none was named.
    func oneAccount() throws(Failure) -> AccountConfig {
        let named = try namedAccounts()
        guard named.count == 1, let account = named.first else {
            let names = accounts.map(\.bookmark.name).joined(separator: ", ")
            throw Failure(.usage, "there are several accounts", hint: "name one with --account: \(names)")
        }
        return account
    }
}

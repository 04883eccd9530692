import Core
import Glibc
import Logging
import Model
import Threads

extension Config {
    /// Makes the host process that the accounts of this process share.
    func hostProcess(_ console: Console) -> HostProcess {
        HostProcess(settings: settings, options: hostOptions(console))
    }

    /// Makes the options of this program's host processes, with the config's log.
    /// - Parameters:
    ///   - control: the control of the log, which gets the config's level and format.
    ///   - trace: the absolute path of the file that every call into every plugin is written to; nil writes no trace.
    ///   - socket: the socket on which the process takes commands; nil if it takes none.
    func hostOptions(
        _ console: Console, _ control: LogControl = LogControl(), trace: String? = nil, socket: Control? = nil
    ) -> HostOptions {
        log.apply(to: control, console)
        let handler = LineLogHandler(control, console: console)
        var options = HostOptions(
            logger: Logger(label: "larder") { _ in handler }, trace: trace.map(TraceFile.init),
            builtInPlugins: BuiltIn.pluginFolder, probe: BuiltIn.probeCommand, words: \.sentence)
        options.systemPlugins = BuiltIn.systemPluginFolder
        options.setBandwidth(settings.limits.bandwidth)
        if let socket { options.controlSocket = { await socket.path(forVault: $0) } }
        options.knownVaults = KnownVaults(environment: processEnvironment())
        return options
    }
}

extension KnownVaults {
    /// Makes the list of this user: the file `larder/vaults` below `$XDG_STATE_HOME`, else below `~/.local/state`. Fails
    /// if neither is known.
    init?(environment: [String: String]) {
        func folder(_ name: String) -> String? { environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
        guard let state = folder("XDG_STATE_HOME") ?? folder("HOME").map({ $0 + "/.local/state" }) else { return nil }
        self.init(path: ConfigPaths.tidied("\(state)/larder/vaults"))
    }
}

extension LogConfig {
    /// Applies the log's settings to all loggers at once.
    func apply(to control: LogControl, _ console: Console) {
        control.config = self
        console.showPriorities(format == .journal)
    }
}

/// Carries out a command for the account that the command line is about: through the process that has the account's
/// vault open if it takes commands, else in this process. Waits while a process has the vault that takes none and will
/// soon end.
/// - Parameter asksServer: whether the server is asked; otherwise this process reads no secret.
/// - Throws: the failure of the command; `vaultLocked` if the host is of another version or has another config for the
///   account; the errors of opening the config and the plugins.
@discardableResult
func carryOut<Command: AccountCommand>(
    _ command: Command, _ global: GlobalOptions, _ console: Console, asksServer: Bool = false
) async throws(Failure) -> Command.Answer {
    try await carryOut(global, console, asksServer: asksServer) { host, account, hear throws(Failure) in
        try await host.carryOut(command, for: account, hear: hear)
    } alone: { host, hear throws(Failure) in
        try await host.perform(command, progress: hear)
    }
}

/// Carries out something for the account that the command line is about, as ``carryOut(_:_:_:asksServer:)``.
/// - Parameters:
///   - beside: has the process do it that has the account's vault open; nil if that does not run any more.
///   - alone: does it in this process.
func carryOut<Answer: Sendable>(
    _ global: GlobalOptions, _ console: Console, asksServer: Bool = false,
    beside: (RunningHost, AccountConfig, (TransferProgress) -> Void) async throws(Failure) -> Answer?,
    alone: (AccountHost, @escaping @Sendable (TransferProgress) -> Void) async throws(Failure) -> Answer
) async throws(Failure) -> Answer {
    let progress = ShownProgress(console)
    defer { progress.end() }
    var waiting = VaultWait(console)
    while true {
        // What is wrong with the config is reported where it is opened with its plugins.
        if let config = try? global.loadConfig(), let account = try? config.oneAccount(),
            let host = await RunningHost(of: account, in: config.file),
            let answer = try await beside(host, account, { progress.show($0) })
        {
            return answer
        }
        do throws(Failure) {
            return try await withAccount(global, console, asksServer: asksServer) { host throws(Failure) in
                try await alone(host) { progress.show($0) }
            }
        } catch {
            guard error.kind == .vaultLocked, let account = try? global.loadConfig().oneAccount(),
                try await waiting.goesOn(for: account)
            else { throw error }
        }
    }
}

/// Opens the account that a command changes, runs the body, and closes the account.
/// - Parameter asksServer: whether the server is asked; otherwise no secret is read.
/// - Throws: `vaultLocked` while a host has the vault open, the errors of opening the config and the plugins, and the
///   error that `body` throws.
@discardableResult
private func withAccount<Result: Sendable>(
    _ global: GlobalOptions, _ console: Console, asksServer: Bool = false,
    _ body: (AccountHost) async throws(Failure) -> Result
) async throws(Failure) -> Result {
    let (_, account, process) = try await global.openPlugins(console) { config throws(Failure) in
        try config.oneAccount()
    }
    let host = try await process.open(account.bookmark) { () async throws(Failure) in
        asksServer ? try await account.readSecret() : AccountSecret(.none)
    }
    let result: Result
    do throws(Failure) {
        result = try await body(host)
    } catch {
        try await host.close()
        try await process.close()
        throw error
    }
    try await host.close()
    try await process.close()
    return result
}

/// Starts an account's plugins in a preview, in which they cannot change anything, and stops them after the body.
/// - Throws: `notFound` if nothing is known of the account yet, `localIO` if its vault is away, the errors of opening
///   the config and the plugins, and the error that `body` throws.
func withPreview<Result: Sendable>(
    _ global: GlobalOptions, _ console: Console, _ body: (AccountPreview) async throws(Failure) -> Result
) async throws(Failure) -> Result {
    let (_, account, process) = try await global.openPlugins(console) { config throws(Failure) in
        try config.oneAccount()
    }
    try await account.refuseAwayVault()
    let preview = try await AccountPreview.open(account.bookmark, in: process)
    let result: Result
    do throws(Failure) {
        result = try await body(preview)
    } catch {
        try await preview.close()
        try await process.close()
        throw error
    }
    try await preview.close()
    try await process.close()
    return result
}

extension AccountConfig {
    /// Refuses to go on while the account's vault is away, as when its disk is not mounted.
    /// - Throws: `.localIO` if it is.
    func refuseAwayVault() async throws(Failure) {
        if let away = await runBlocking({ awayVault }) { throw away }
    }

    /// The failure to report while the account's vault is away; nil if it is there, or there never was one. Blocks.
    var awayVault: Failure? { KnownVaults(environment: processEnvironment())?.away(bookmark.vault) }

    /// Opens a reader of what is known of the account; returns nil if nothing is known yet. Blocks.
    /// - Throws: `localIO` if the vault is away, or as `AccountReader.open`.
    func reader() throws(Failure) -> AccountReader? {
        do {
            return try knownReader()
        } catch {
            if error.kind == .notFound { return nil }
            throw error
        }
    }

    /// Opens a reader of what is known of the account. Blocks.
    /// - Throws: `notFound` if nothing is known yet, `localIO` if the vault is away, or as `AccountReader.open`.
    func knownReader() throws(Failure) -> AccountReader {
        do {
            return try AccountReader.open(bookmark)
        } catch {
            throw error.kind == .notFound ? awayVault ?? error : error
        }
    }
}

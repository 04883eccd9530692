import Core
import Glibc
import Logging
import Model

extension Config {
    /// Makes the host process that the accounts of this process share.
    func hostProcess(_ console: Console) -> HostProcess {
        HostProcess(settings: settings, options: hostOptions(console))
    }

    /// Makes the options of this program's host processes, with the config's log.
    /// - Parameters:
    ///   - control: the control of the log, which gets the config's level and format.
    ///   - trace: the absolute path of the file that every call into every plugin is written to; nil writes no trace.
    func hostOptions(
        _ console: Console, _ control: LogControl = LogControl(), trace: String? = nil
    ) -> HostOptions {
        log.apply(to: control, console)
        let handler = LineLogHandler(control, console: console)
        return HostOptions(
            logger: Logger(label: "larder") { _ in handler }, trace: trace.map(TraceFile.init),
            builtInPlugins: BuiltIn.pluginFolder, probe: BuiltIn.probeCommand, words: \.sentence)
    }
}

extension LogConfig {
    /// Applies the log's settings to all loggers at once.
    func apply(to control: LogControl, _ console: Console) {
        control.config = self
        console.showPriorities(format == .journal)
    }
}

/// Opens the account that a command changes, runs the body, and closes the account.
/// - Parameter asksServer: whether the server is asked; otherwise no secret is read.
/// - Throws: `vaultLocked` while a host has the vault open, the errors of opening the config and the plugins, and the
///   error that `body` throws.
@discardableResult
func withAccount<Result: Sendable>(
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
/// - Throws: `notFound` if nothing is known of the account yet, the errors of opening the config and the plugins, and
///   the error that `body` throws.
func withPreview<Result: Sendable>(
    _ global: GlobalOptions, _ console: Console, _ body: (AccountPreview) async throws(Failure) -> Result
) async throws(Failure) -> Result {
    let (_, account, process) = try await global.openPlugins(console) { config throws(Failure) in
        try config.oneAccount()
    }
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
    /// Opens a reader of what is known of the account; returns nil if nothing is known yet.
    func reader() throws(Failure) -> AccountReader? {
        do {
            return try AccountReader.open(bookmark)
        } catch {
            if error.kind == .notFound { return nil }
            throw error
        }
    }
}

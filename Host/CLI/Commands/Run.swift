import ArgumentParser
import Core
import Glibc
import Model
import Threads

struct Run: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the host, which keeps the accounts' files as their policies say.",
        discussion: """
            Runs in the foreground until SIGTERM or SIGINT. With --once, does everything that can be done now and \
            exits. Work that would have to wait is left and named, and determines the exit code.
            """)

    @OptionGroup var global: GlobalOptions
    @Flag(help: "Do everything that can be done now, and exit.") var once = false
    @Option(help: ArgumentHelp("With --once: exit after this time, with exit code 1.", valueName: "duration"))
    var timeout: String?
    @Option(help: ArgumentHelp("Write every call into a plugin to a file, one JSON line per call.", valueName: "file"))
    var trace: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        var limit: Duration?
        if let timeout {
            guard once else {
                throw Failure(.usage, "--timeout needs --once", hint: "write `run --once --timeout …`")
            }
            limit = try CLIArgument.duration(timeout, of: "--timeout")
        }
        // From before the config is read on, a SIGHUP has it read anew.
        let hangups = once ? nil : try Signals(heeding: SIGHUP)
        let (log, trace, socket) = (LogControl(), trace.map(absolute), Control(environment: processEnvironment()))
        let (config, accounts, process) = try await global.openPlugins(
            console, for: .run, options: { $0.hostOptions(console, log, trace: trace, socket: socket) },
            choosing: { config throws(Failure) in
                config.warn(console)
                return try config.namedAccounts()
            })
        let hosting = Hosting(
            global, config, accounts, Generation(process, await process.pluginReports()), once: once, timeout: limit,
            hangups: hangups, log: log, console: console)
        let service = ControlService(hosting: hosting)
        await socket.begin(logger: process.options.logger) { try await service.answer($0, on: $1) }
        let checks = Task { await hosting.keepReachable(at: socket) }
        var failures = await hosting.runUntilSignalled()
        checks.cancel()
        await socket.close()
        if once {
            failures += await process.pluginReports()
                .filter { report in accounts.contains { config.isEnabled(report.id, for: $0) } }
                .compactMap(\.inWords.refusal)
        }
        failures += await hosting.close()
        return failures
    }

    private func absolute(_ path: String) -> String {
        ConfigPaths.tidied(path.hasPrefix("/") ? path : currentFolder() + "/" + path)
    }
}

extension PluginReport {
    /// The failure for an enabled plugin that was refused, is missing or is quarantined; nil for any other plugin. Such
    /// a plugin did no work, so the run has not done all of its work.
    fileprivate var refusal: Failure? {
        guard state == .refused || state == .missing || state == .quarantined else { return nil }
        return Failure(
            .failed, "the plugin \(id.shortName) is \(state.rawValue): \(reason ?? "it gave no reason")",
            hint:
                "`larder plugin why \(id.shortName)` tells more; `larder plugin disable \(id.shortName)` turns "
                + "the plugin off"
        )
    }
}

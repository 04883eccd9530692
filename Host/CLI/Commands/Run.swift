import ArgumentParser
import Core
import Model

struct Run: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Keep the accounts' files where the policies say they should be.",
        discussion: """
            Runs in the foreground until SIGTERM or SIGINT. With --once it does what can be done now, and ends; what \
            would have to wait is left, named, and makes the exit code.
            """)

    @OptionGroup var global: GlobalOptions
    @Flag(help: "Do what can be done now, and end.") var once = false
    @Option(help: ArgumentHelp("With --once: end after this time, with exit code 1.", valueName: "duration"))
    var timeout: String?
    @Option(help: ArgumentHelp("Write every call into every plugin to a file, a JSON line each.", valueName: "file"))
    var trace: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        var limit: Duration?
        if let timeout {
            guard once else {
                throw Failure(.usage, "--timeout goes with --once", hint: "write `run --once --timeout …`")
            }
            limit = try CLIArgument.duration(timeout, of: "--timeout")
        }
        let (config, accounts, process) = try await global.openPlugins(console, trace: trace.map(absolute), for: .run) {
            config throws(Failure) in
            config.warn(console)
            return try config.namedAccounts()
        }
        let hosting = Hosting(
            process: process, accounts: accounts, once: once, timeout: limit, isJSON: global.isJSON, console: console)
        var failures = await hosting.runUntilSignalled(log: config.log)
        failures += await process.givenUpCalls()
        if once {
            let enabled = Set(config.settings.plugins.filter(\.isEnabled).map(\.id))
            failures += await process.pluginReports().filter { enabled.contains($0.id) }.compactMap(\.inWords.refusal)
        }
        do {
            try await process.close()
        } catch {
            failures.append(error)
        }
        return failures
    }

    private func absolute(_ path: String) -> String {
        ConfigPaths.tidied(path.hasPrefix("/") ? path : currentFolder() + "/" + path)
    }
}

extension PluginReport {
    /// What is enabled and did nothing is not all done.
    fileprivate var refusal: Failure? {
        guard state == .refused || state == .missing || state == .quarantined else { return nil }
        return Failure(
            .failed, "the plugin \(id.shortName) is \(state.rawValue): \(reason ?? "it gave no reason")",
            hint:
                "`larder plugin why \(id.shortName)` tells more; `larder plugin disable \(id.shortName)` does without it"
        )
    }
}

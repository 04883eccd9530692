import ArgumentParser
import Core
import Model

struct PluginTrace: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Show a running host's calls into a plugin as they are made.",
        discussion: """
            Prints each call and what the plugin asks for, until Ctrl-C. With --json, prints the lines of a trace. With \
            --timeline, writes the calls to a file too, which https://ui.perfetto.dev and chrome://tracing open. A \
            plugin does not wait for a reader: lines that nobody reads in time are left out, and their number is shown. \
            The exit code is 69 if no host runs, and 1 if the host ends.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String
    @Option(
        help: ArgumentHelp("Also write the calls to this file, which is replaced.", valueName: "file"),
        completion: .file())
    var timeline: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let id = try await tracedPlugin(config, console)
        let accounts = try config.namedAccounts()
        let trace = TraceFollowing(
            config: config.file, accounts: accounts, plugin: id,
            disabled: Set(accounts.filter { !config.isEnabled(id, for: $0) }.map(\.bookmark.name)), console: console,
            calls: TracedCalls(
                isJSON: global.isJSON, namesAccounts: accounts.count > 1, timeline: timeline, console))
        return try await trace.run()
    }

    /// Returns the plugin that is meant: one that the config names, or that comes with Larder.
    private func tracedPlugin(_ config: Config, _ console: Console) async throws(Failure) -> PluginID {
        let id = PluginID(shortOrFull: plugin)
        if firstPartyNames.contains(id.shortName) || config.pluginSettings(of: id) != nil { return id }
        let report = try await triedPlugins(config, console).named(plugin)
        guard report.state != .found else { throw unknownPlugin(plugin, among: []) }
        return report.id
    }
}

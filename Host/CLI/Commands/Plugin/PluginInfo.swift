import ArgumentParser
import Core
import Model

struct PluginInfo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Print all that is known of a plugin.",
        discussion: """
            Ends with the plugin's part of the config, to copy: every setting of its own with its value, and what it may be.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        var (reports, failures) = try await pluginReports(config, console)
        let report = try reports.named(plugin)
        var kept: [(account: String, kept: KeptByPlugin)] = []
        for account in try config.namedAccounts() {
            do {
                let read = try await account.withReader { reader throws(Failure) in
                    try await reader.kept(by: report.id, kinds: report.kinds)
                }
                if let read { kept.append((account.bookmark.name, read)) }
            } catch {
                failures.append(error)
            }
        }
        let description = PluginText(report: report, config: config, kept: kept)
        if global.isJSON { console.print(description.json) } else { description.lines.forEach(console.print) }
        return failures
    }
}

import Core
import Model

/// A command that describes one plugin.
protocol PluginQuestion: LarderCommand {
    var plugin: String { get }

    /// Returns the description for people.
    static func lines(on report: PluginReport, _ config: Config) -> [String]
}

extension PluginQuestion {
    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let (reports, failures) = try await pluginReports(config, console)
        guard let report = reports.first(where: { $0.id == PluginID(shortOrFull: plugin) || $0.id.text == plugin })
        else { throw unknownPlugin(plugin, among: reports.map(\.id.shortName)) }
        for line in global.isJSON ? [JSONValue(report).text] : Self.lines(on: report, config) { console.print(line) }
        return failures
    }
}

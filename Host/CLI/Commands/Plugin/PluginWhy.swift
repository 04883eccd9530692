import ArgumentParser
import Core
import Model

struct PluginWhy: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Say why a plugin is in its state.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let (reports, failures) = try await pluginReports(config, console)
        let report = try reports.named(plugin)
        let why = Text.visible(Self.why(report, config))
        console.print(
            global.isJSON ? JSONValue(report).text : "\(report.id.shortName) is \(report.state.rawValue): \(why)")
        return failures
    }

    private static func why(_ report: PluginReport, _ config: Config) -> String {
        let said = config.enabledSettings(of: report.id).map { "`\($0.key)` is \($0.value.text) (\($0.source))" }
        let source = said.isEmpty ? nil : said.joined(separator: ", ")
        switch report.state {
        case .ready:
            let opened = [source, "\(report.library) was opened and can be used"].compactMap { $0 }
                .joined(separator: ", and ")
            return [opened, report.reason].compactMap { $0 }.joined(separator: "; ")
        case .running, .degraded:
            return [source, report.reason ?? "a host has started it"].compactMap { $0 }.joined(separator: ", ")
        case .disabled: return [source, report.reason].compactMap { $0 }.joined(separator: ", ")
        case .missing: return report.reason ?? "no library with this name is in the plugins' folders"
        default: return report.reason ?? "no reason is known"
        }
    }
}

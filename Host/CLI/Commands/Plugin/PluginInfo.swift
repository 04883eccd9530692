import ArgumentParser
import Core
import Model

struct PluginInfo: PluginQuestion {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Print all that is known of a plugin.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String

    static func lines(on report: PluginReport, _ config: Config) -> [String] {
        let rows: [(String, String)] = [
            ("plugin", report.id.text), ("name", report.name), ("version", report.version), ("library", report.library),
            ("state", report.state.rawValue), ("reason", report.reason ?? ""), ("isolation", report.isolation.rawValue),
            ("kinds", report.kinds.joined(separator: ", ")), ("abi", report.abi ?? ""),
            ("grants", report.grants.map(\.rawValue).joined(separator: ", ")),
        ]
        let prefix = "plugins.\(report.id.shortName)."
        let settings = config.shown(with: [report]).filter { $0.key.hasPrefix(prefix) }
        return rows.filter { !$0.1.isEmpty }.map { Text.padded($0.0, to: 11) + Text.visible($0.1) }
            + settings.map { "\($0.key.dropFirst("plugins.".count)) = \($0.value.text)  (\($0.source))" }
    }
}

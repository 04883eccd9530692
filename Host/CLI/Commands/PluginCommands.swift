import ArgumentParser
import Core
import Logging
import Model

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "List plugins, and turn them on and off.",
        subcommands: [PluginList.self, PluginInfo.self, PluginWhy.self, PluginEnable.self, PluginDisable.self])
}

struct PluginList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the plugins in the order in which their processors are called.",
        discussion: "Libraries that are enabled are opened, in a process of their own first; none is started.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let reports = try await pluginReports(try global.loadConfig(), console)
        if global.isJSON {
            for report in reports { console.print(JSON(report)) }
            return []
        }
        var table = Table(["plugin", "state", "version", "isolation", "reason"])
        for report in reports {
            table.add([
                report.id.shortName, report.state.rawValue, report.version, report.isolation.rawValue,
                report.reason ?? "",
            ])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}

struct PluginInfo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Print all that is known of a plugin.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.") var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let report = try await pluginReport(plugin, config, console)
        if global.isJSON {
            console.print(JSON(report))
            return []
        }
        let rows: [(String, String)] = [
            ("plugin", report.id.text), ("name", report.name), ("version", report.version), ("library", report.library),
            ("state", report.state.rawValue), ("reason", report.reason ?? ""), ("isolation", report.isolation.rawValue),
            ("kinds", report.kinds.joined(separator: ", ")), ("abi", report.abi ?? ""),
        ]
        for (name, value) in rows where !value.isEmpty {
            console.print(Text.padded(name, to: 11) + Text.visible(value))
        }
        let prefix = "plugins.\(report.id.shortName)."
        for setting in config.shown where setting.key.hasPrefix(prefix) {
            console.print("\(setting.key.dropFirst("plugins.".count)) = \(setting.value.rendered)  (\(setting.source))")
        }
        return []
    }
}

struct PluginWhy: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Say why a plugin is in the state that it is in.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.") var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let report = try await pluginReport(plugin, config, console)
        if global.isJSON {
            console.print(JSON(report))
            return []
        }
        console.print("\(report.id.shortName) is \(report.state.rawValue): \(Text.visible(Self.why(report, config)))")
        return []
    }

    static func why(_ report: PluginReport, _ config: Config) -> String {
        let enabled = config.shown.first { $0.key == "plugins.\(report.id.shortName).enabled" }
        let source = enabled.map { "`\($0.key)` is \($0.value.rendered) (\($0.source))" }
        switch report.state {
        case .ready:
            return [source, "\(report.library) was opened and fits"].compactMap { $0 }.joined(separator: ", and ")
        case .disabled: return [source, report.reason].compactMap { $0 }.joined(separator: ", ")
        case .missing: return report.reason ?? "no library with this name is in the plugins' folders"
        default: return report.reason ?? "there is no more to say"
        }
    }
}

func pluginReports(_ config: Config, _ console: Console) async throws(Failure) -> [PluginReport] {
    var config = config
    // What a plugin is refused for stands in its report; the log would say it twice.
    config.log.level = .critical
    let process = config.hostProcess(console)
    let reports = await process.pluginReports()
    try await process.close()
    return reports
}

private func pluginReport(
    _ name: String, _ config: Config, _ console: Console
) async throws(Failure) -> PluginReport {
    let reports = try await pluginReports(config, console)
    guard let report = reports.first(where: { $0.id == PluginID(shortOrFull: name) || $0.id.text == name }) else {
        throw unknownPlugin(name, among: reports.map(\.id.shortName))
    }
    return report
}

func unknownPlugin(_ name: String, among known: [String]) -> Failure {
    if let plugin = FirstParty.plugin(PluginID(shortOrFull: name)), !plugin.isBuilt {
        return Failure(.notFound, "the plugin \(plugin.name) is not in this build")
    }
    let meant = nearestName(to: name, among: known, ifLikely: true).map { "did you mean `\($0)`? " } ?? ""
    return Failure(
        .notFound, "there is no plugin `\(name)`",
        hint: meant + "a plugin that did not come with Larder is named in the config, with its library")
}

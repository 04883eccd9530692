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
        let (reports, failures) = try await pluginReports(try global.loadConfig(), console)
        if global.isJSON {
            for report in reports { console.print(JSON(report)) }
            return failures
        }
        var table = Table(["plugin", "state", "version", "isolation", "reason"])
        for report in reports {
            table.add([
                report.id.shortName, report.state.rawValue, report.version, report.isolation.rawValue,
                report.reason ?? "",
            ])
        }
        for line in table.lines { console.print(line) }
        return failures
    }
}

/// A command that tells of one plugin.
protocol PluginQuestion: LarderCommand {
    var plugin: String { get }

    /// The answer for people.
    static func lines(on report: PluginReport, _ config: Config) -> [String]
}

extension PluginQuestion {
    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let (reports, failures) = try await pluginReports(config, console)
        guard let report = reports.first(where: { $0.id == PluginID(shortOrFull: plugin) || $0.id.text == plugin })
        else { throw unknownPlugin(plugin, among: reports.map(\.id.shortName)) }
        for line in global.isJSON ? [JSON(report).rendered] : Self.lines(on: report, config) { console.print(line) }
        return failures
    }
}

struct PluginInfo: PluginQuestion {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Print all that is known of a plugin.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.") var plugin: String

    static func lines(on report: PluginReport, _ config: Config) -> [String] {
        let rows: [(String, String)] = [
            ("plugin", report.id.text), ("name", report.name), ("version", report.version), ("library", report.library),
            ("state", report.state.rawValue), ("reason", report.reason ?? ""), ("isolation", report.isolation.rawValue),
            ("kinds", report.kinds.joined(separator: ", ")), ("abi", report.abi ?? ""),
        ]
        let prefix = "plugins.\(report.id.shortName)."
        let settings = config.shown(with: [report]).filter { $0.key.hasPrefix(prefix) }
        return rows.filter { !$0.1.isEmpty }.map { Text.padded($0.0, to: 11) + Text.visible($0.1) }
            + settings.map { "\($0.key.dropFirst("plugins.".count)) = \($0.value.rendered)  (\($0.source))" }
    }
}

struct PluginWhy: PluginQuestion {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Say why a plugin is in the state that it is in.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.") var plugin: String

    static func lines(on report: PluginReport, _ config: Config) -> [String] {
        let why = Text.visible(why(report, config))
        return ["\(report.id.shortName) is \(report.state.rawValue): \(why)"]
    }

    static func why(_ report: PluginReport, _ config: Config) -> String {
        let enabled = config.shown.first { $0.key == "plugins.\(report.id.shortName).enabled" }
        let source = enabled.map { "`\($0.key)` is \($0.value.rendered) (\($0.source))" }
        switch report.state {
        case .ready:
            return [source, "\(report.library) was opened and fits"].compactMap { $0 }.joined(separator: ", and ")
        case .running:
            return [source, report.reason ?? "a host has started it"].compactMap { $0 }.joined(separator: ", ")
        case .disabled: return [source, report.reason].compactMap { $0 }.joined(separator: ", ")
        case .missing: return report.reason ?? "no library with this name is in the plugins' folders"
        default: return report.reason ?? "there is no more to say"
        }
    }
}

/// What is known of the plugins, those that hosts of the accounts run now as such.
/// - Returns: also why it cannot be told of an account what runs there.
private func pluginReports(
    _ config: Config, _ console: Console
) async throws(Failure) -> (reports: [PluginReport], failures: [Failure]) {
    var failures: [Failure] = []
    var running: Set<PluginID> = []
    for account in try config.namedAccounts() {
        do {
            guard let reader = try account.reader() else { continue }
            running.formUnion(try await reader.runningPlugins())
            try reader.close()
        } catch {
            failures.append(error)
        }
    }
    return (try await triedPlugins(config, console).map { $0.running(in: running) }, failures)
}

/// What is known of the plugins without a look at running hosts.
func triedPlugins(_ config: Config, _ console: Console) async throws(Failure) -> [PluginReport] {
    var config = config
    // What a plugin is refused for stands in its report; the log would say it twice.
    config.log.level = .critical
    let process = config.hostProcess(console)
    let reports = await process.pluginReports()
    try await process.close()
    return reports
}

extension PluginReport {
    /// The report beside hosts that run these plugins. What the config or the library has become since a host's start is what
    /// its next start finds.
    func running(in running: Set<PluginID>) -> PluginReport {
        guard running.contains(id), state != .found else { return self }
        var report = self
        report.state = .running
        if state != .ready {
            let next = "from the host's next start on it is \(state.rawValue)"
            report.reason = reason.map { "\(next): \($0)" } ?? next
        }
        return report
    }
}

func unknownPlugin(_ name: String, among known: [String]) -> Failure {
    let meant = nearestName(to: name, among: known, ifLikely: true).map { "did you mean `\($0)`? " } ?? ""
    return Failure(
        .notFound, "there is no plugin `\(name)`",
        hint: meant + "a plugin that did not come with Larder is named in the config, with its library")
}

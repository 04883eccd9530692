import ArgumentParser
import Core
import Glibc
import Logging
import Model

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "List plugins, and turn them on and off.",
        subcommands: [
            PluginList.self, PluginInfo.self, PluginWhy.self, PluginEnable.self, PluginDisable.self, PluginRetry.self,
        ])
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
            let opened = [source, "\(report.library) was opened and fits"].compactMap { $0 }.joined(separator: ", and ")
            return [opened, report.reason].compactMap { $0 }.joined(separator: "; ")
        case .running, .degraded:
            return [source, report.reason ?? "a host has started it"].compactMap { $0 }.joined(separator: ", ")
        case .disabled: return [source, report.reason].compactMap { $0 }.joined(separator: ", ")
        case .missing: return report.reason ?? "no library with this name is in the plugins' folders"
        default: return report.reason ?? "there is no more to say"
        }
    }
}

/// What is known of the plugins, also by hosts of the accounts that run now or ran last.
/// - Returns: also why it cannot be told of an account what runs there.
private func pluginReports(
    _ config: Config, _ console: Console
) async throws(Failure) -> (reports: [PluginReport], failures: [Failure]) {
    var failures: [Failure] = []
    var reports = try await triedPlugins(config, console)
    for account in try config.namedAccounts() {
        do {
            guard let reader = try account.reader() else { continue }
            reports = try await reader.held(reports)
            let notes = try await reader.pluginNotes()
            try reader.close()
            reports = reports.map { $0.seen(by: notes, config) }
        } catch {
            failures.append(error)
        }
    }
    return (reports, failures)
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
    /// The report with what an account's host says of the plugin, or said last. What the config or the library has become since a
    /// running host's start is what its next start finds; what the last host said of what has changed since is over.
    func seen(by notes: PluginNotes, _ config: Config) -> PluginReport {
        guard state != .found else { return self }
        let note = notes.notes.first { $0.plugin == id }
        var report = self
        if notes.started.contains(id) {
            let isDegraded = note?.state == .degraded || state == .degraded
            report.state = isDegraded ? .degraded : .running
            let next = state.isAtWork ? reason : startsNext
            report.reason = [note?.reason, next].compactMap(\.self).joined(separator: "; ")
            if report.reason == "" { report.reason = nil }
        } else if let note, let said = note.reason, state == .ready {
            if notes.isRunning {
                (report.state, report.reason) = (note.state == .refused ? .refused : .ready, said)
            } else if ![library, config.file].contains(where: { wasWritten($0, after: note.time) }) {
                report.state = note.state == .refused ? .refused : .ready
                report.reason = "the last run, at \(Text.time(note.time)), said: \(said)"
            }
        }
        return report
    }

    /// What a start finds now; nil: that it may be started.
    private var startsNext: String? {
        guard state != .ready else { return nil }
        let next = "from the host's next start on it is \(state.rawValue)"
        return reason.map { "\(next): \($0)" } ?? next
    }
}

extension PluginReport.State {
    fileprivate var isAtWork: Bool { self == .running || self == .degraded }
}

private func wasWritten(_ file: String, after time: Timestamp) -> Bool {
    var status = stat()
    guard stat(file, &status) == 0 else { return false }
    let (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
    return Timestamp(seconds: seconds) + .nanoseconds(nanoseconds) > time
}

func unknownPlugin(_ name: String, among known: [String]) -> Failure {
    let meant = nearestName(to: name, among: known, ifLikely: true).map { "did you mean `\($0)`? " } ?? ""
    return Failure(
        .notFound, "there is no plugin `\(name)`",
        hint: meant + "a plugin that did not come with Larder is named in the config, with its library")
}

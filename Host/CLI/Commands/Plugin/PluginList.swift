import ArgumentParser
import Core
import Model

struct PluginList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the plugins in the order in which their processors are called.",
        discussion: "Opens the enabled libraries, in a separate process first. Starts no plugin.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let (reports, failures) = try await pluginReports(try global.loadConfig(), console)
        if global.isJSON {
            for report in reports { console.print(JSONValue(report)) }
            return failures
        }
        var table = Table(["plugin", "state", "version", "isolation", "grants", "reason"])
        for report in reports {
            table.add([
                report.id.shortName, report.state.rawValue, report.version, report.isolation.rawValue,
                report.grants.map(\.rawValue).joined(separator: ", "), report.reason ?? "",
            ])
        }
        for line in table.lines { console.print(line) }
        return failures
    }
}

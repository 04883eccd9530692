import ArgumentParser
import Core
import Model

struct PluginRetry: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Let a plugin run again that ended the host or held it up.",
        discussion: """
            Such a plugin is left out for ten minutes, and quarantined after the third time in a day. The next start takes it \
            up again. No host may be running for the account.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.") var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let reports = try await triedPlugins(config, console)
        guard let report = reports.first(where: { $0.id == PluginID(shortOrFull: plugin) || $0.id.text == plugin })
        else { throw unknownPlugin(plugin, among: reports.map(\.id.shortName)) }
        let process = config.hostProcess(console)
        var isReleased = false
        for account in try config.namedAccounts() {
            guard let reader = try account.reader() else { continue }
            try reader.close()
            if try await process.retry(report.id, library: report.library, for: account.bookmark) { isReleased = true }
        }
        try await process.close()
        if global.isJSON {
            console.print(.object(["id": .string(report.id.text), "changed": .bool(isReleased)]))
        } else {
            let name = report.id.shortName
            console.print(
                isReleased
                    ? "\(name) is tried again from the host's next start on" : "\(name) is not held; nothing is changed"
            )
        }
        return []
    }
}

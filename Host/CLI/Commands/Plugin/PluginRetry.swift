import ArgumentParser
import Core
import Model

struct PluginRetry: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Let a plugin run again after it ended or blocked the host.",
        discussion: """
            Such a plugin is not started for ten minutes, and is quarantined after the third time in a day. After this \
            command, the next start uses the plugin again. A running host closes the account and opens it again with \
            the plugin, at once.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        let reports = try await triedPlugins(config, console)
        let report = try reports.named(plugin)
        var (isReleased, isAtWork) = (false, false)
        for account in try config.namedAccounts() {
            let isKnown: Void? = try await account.withReader { _ in }
            if isKnown == nil { continue }
            var one = global
            one.account = account.bookmark.name
            let outcome = try await carryOut(Plugins.Retry(report.id), one, console)
            if outcome.isReleased { isReleased = true }
            if outcome.isAtWork { isAtWork = true }
        }
        if global.isJSON {
            console.print(.object(["id": .string(report.id.text), "changed": .bool(isReleased)]))
        } else {
            let name = report.id.shortName
            console.print(
                isReleased
                    ? "\(name) is used again" + (isAtWork ? "" : " from the host's next start")
                    : "\(name) is not held back; nothing was changed"
            )
        }
        return []
    }
}

import ArgumentParser
import Core
import Model

struct PluginEnable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Turn a plugin on, in the config.",
        discussion: """
            Only the one value is changed. A running host takes it up at its next start. A library that `larder plugin list` shows as \
            `found` is opened, in a process of its own, to see which plugins it has, and named in the config.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name; or a library that was found.") var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await switchPlugin(plugin, on: true, global, console)
    }
}

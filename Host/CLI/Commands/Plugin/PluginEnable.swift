import ArgumentParser
import Core
import Model

struct PluginEnable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "enable", abstract: "Turn a plugin on, in the config.",
        discussion: """
            Changes only this value in the config. A running host applies the change at once. A library that \
            `larder plugin list` shows as `found` is opened in a separate process, to read which plugins it has, and \
            is named in the config. With --in-process the plugin runs inside the host, where it can do everything that \
            the host can do.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id or short name, or a library that was found.", completion: .plugin) var plugin:
        String

    @Flag(
        name: .customLong("in-process"),
        help: "Also write that the plugin runs inside the host, which a library that did not come with Larder needs.")
    var isInProcess = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await switchPlugin(plugin, on: true, inProcess: isInProcess, global, console)
    }
}

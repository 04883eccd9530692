import ArgumentParser
import Core
import Model

struct PluginDisable: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "disable", abstract: "Turn a plugin off, in the config.",
        discussion: "Changes only this value in the config. A running host applies the change at once.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's id, or its short name.", completion: .plugin) var plugin: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await switchPlugin(plugin, on: false, global, console)
    }
}

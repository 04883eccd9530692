import ArgumentParser
import Core
import Model

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin", abstract: "List plugins, and turn them on and off.",
        subcommands: [
            PluginList.self, PluginInfo.self, PluginWhy.self, PluginEnable.self, PluginDisable.self, PluginRetry.self,
        ])
}

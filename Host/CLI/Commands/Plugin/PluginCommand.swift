import ArgumentParser
import Core
import Model

struct PluginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugin",
        abstract: "List plugins, turn them on and off, watch them; begin, try and check your own.",
        subcommands: [
            PluginList.self, PluginInfo.self, PluginWhy.self, PluginEnable.self, PluginDisable.self, PluginRetry.self,
            PluginNew.self, PluginTry.self, PluginValidate.self, PluginDev.self, PluginTrace.self, PluginValues.self,
            PluginRecords.self,
        ])
}

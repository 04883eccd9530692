import ArgumentParser
import Core
import Model

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show and check the config.",
        subcommands: [ConfigShow.self, ConfigValidate.self])
}

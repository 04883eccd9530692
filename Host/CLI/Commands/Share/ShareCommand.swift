import ArgumentParser
import Core
import Model

struct ShareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "share", abstract: "Show the shares by me and with me.", subcommands: [ShareList.self])
}

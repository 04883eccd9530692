import ArgumentParser
import Core
import Model

struct LoopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loop", abstract: "Show what polls the server for events, and poll now.",
        subcommands: [LoopList.self, LoopPoll.self, LoopEnable.self, LoopDisable.self])
}

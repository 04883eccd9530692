import ArgumentParser
import Core
import Model

struct LoopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "loop", abstract: "List, enable and disable event loops, and poll the server now.",
        subcommands: [LoopList.self, LoopPoll.self, LoopEnable.self, LoopDisable.self])
}

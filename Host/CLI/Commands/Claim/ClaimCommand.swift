import ArgumentParser
import Core
import Model

struct ClaimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim", abstract: "Say that a local copy is needed, so that nothing removes it.",
        subcommands: [ClaimAdd.self, ClaimList.self, ClaimRemove.self])
}

import ArgumentParser
import Core
import Model

struct ClaimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim", abstract: "Claim local copies, so that nothing removes them.",
        subcommands: [ClaimAdd.self, ClaimList.self, ClaimRemove.self])
}

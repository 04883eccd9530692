import ArgumentParser
import Core
import Model

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "List, add, change, remove and run item policies, and undo changes of policies.",
        subcommands: [
            PolicyAdd.self, PolicyList.self, PolicyUpdate.self, PolicyRemove.self, PolicyUndo.self, PolicyRedo.self,
            PolicyHistoryList.self, PolicyRun.self,
        ])
}

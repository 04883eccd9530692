import ArgumentParser
import Core
import Model

struct IssueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue", abstract: "List what waits for a person, and answer it.",
        subcommands: [IssueList.self, IssueResolve.self])
}

import ArgumentParser
import Core
import Model

struct IssueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue", abstract: "List and resolve issues, which wait for a person.",
        subcommands: [IssueList.self, IssueResolve.self])
}

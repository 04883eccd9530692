import ArgumentParser
import Core
import Model

struct AccountsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account", abstract: "Add, list, verify and remove accounts.",
        subcommands: [AccountAdd.self, AccountList.self, AccountVerify.self, AccountRemove.self])
}

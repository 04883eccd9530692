import ArgumentParser
import Core
import Model

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "List what is to be done, cancel it, or try it again.",
        subcommands: [SyncList.self, SyncCancel.self, SyncRetry.self])
}

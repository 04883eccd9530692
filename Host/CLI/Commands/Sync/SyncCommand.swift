import ArgumentParser
import Core
import Model

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "List, cancel and retry sync records.",
        subcommands: [SyncList.self, SyncCancel.self, SyncRetry.self])
}

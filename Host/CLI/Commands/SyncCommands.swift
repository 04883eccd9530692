public import ArgumentParser
import Core
public import Model

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "List what is to be done, cancel it, or try it again.",
        subcommands: [SyncList.self, SyncCancel.self, SyncRetry.self])
}

struct SyncCancel: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Take a sync record out of the queue.",
        discussion: "A policy that wants the same may ask for it again.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The record's id, as `sync list` shows it.") var id: SyncRecordID

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await withAccount(global, console) { host throws(Failure) in try await host.perform(Records.Cancel(id)) }
        report("cancelled", id, global, console)
        return []
    }
}

struct SyncRetry: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Let a sync record that waits or failed go on with the next run.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The record's id, as `sync list` shows it.") var id: SyncRecordID

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await withAccount(global, console) { host throws(Failure) in try await host.perform(Records.Retry(id)) }
        report("goes on with the next run", id, global, console)
        return []
    }
}

private func report(_ what: String, _ id: SyncRecordID, _ global: GlobalOptions, _ console: Console) {
    console.print(global.isJSON ? JSON.object(["id": .id(id)]).rendered : "record \(id): \(what)")
}

extension SyncRecordID: ExpressibleByArgument {
    public init?(argument: String) {
        guard let number = Int64(argument) else { return nil }
        self.init(number)
    }
}

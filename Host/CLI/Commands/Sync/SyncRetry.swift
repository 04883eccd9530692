import ArgumentParser
import Core
import Model

struct SyncRetry: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Retry a waiting or failed sync record in the next run.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The record's id, as `sync list` shows it.") var id: SyncRecordID

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await withAccount(global, console) { host throws(Failure) in try await host.perform(Records.Retry(id)) }
        console.report(id, "will be retried by the next run", global)
        return []
    }
}

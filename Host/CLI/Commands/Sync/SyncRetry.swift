import ArgumentParser
import Core
import Model

struct SyncRetry: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Retry a waiting or failed sync record.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The record's id, as `sync list` shows it.") var id: SyncRecordID

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await carryOut(Records.Retry(id), global, console)
        console.report(id, "will be retried by the running host or the next run", global)
        return []
    }
}

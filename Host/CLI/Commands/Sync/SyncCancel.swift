import ArgumentParser
import Core
import Model

struct SyncCancel: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Take a sync record out of the queue.",
        discussion: "A policy may request the same action again.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The record's id, as `sync list` shows it.") var id: SyncRecordID

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await carryOut(Records.Cancel(id), global, console)
        console.report(id, "cancelled", global)
        return []
    }
}

import ArgumentParser
import Core
import Model
import Synchronization

struct SyncCancel: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Take a sync record out of the queue.",
        discussion: """
            A policy may request the same action again. Of a change about which the server was asked, the request ends, \
            and the server is asked what it has made of it; what it has made stays. A copy, a move or a deletion stays in \
            the queue, as being cancelled, until the server is known to be done with it, which takes a minute.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The record's id, as `sync list` shows it.") var id: SyncRecordID

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        // Only the server can tell what it has made of a change.
        let wasSent = try await record()?.mayHaveArrived ?? false
        try await carryOut(Records.Cancel(id), global, console, asksServer: wasSent)
        console.report(id, try await record() == nil ? "cancelled" : "being cancelled", global)
        return []
    }

    /// Returns the record, if it is in the queue.
    private func record() async throws(Failure) -> SyncRecord? {
        let found = Mutex(SyncRecord?.none)
        try await global.withReader { reader throws(Failure) in
            try await reader.records { [id] report in
                if report.record.id == id { found.withLock { $0 = report.record } }
            }
        }
        return found.withLock { $0 }
    }
}

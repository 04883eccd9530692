import Model
import Synchronization

/// Counts what is done and what is to come. From any thread.
final class Counters: Sendable {
    private let progress = Mutex(SyncProgress())

    var current: SyncProgress { progress.withLock { $0 } }

    func change(_ body: (inout SyncProgress) -> Void) { progress.withLock { body(&$0) } }

    /// What is to come is what the journal holds.
    func begin(_ pending: (files: Int, bytes: Int64)) {
        progress.withLock { progress in
            progress.filesTotal = progress.filesDone + pending.files
            progress.bytesTotal = progress.bytesDone.adding(pending.bytes)
        }
    }

    /// More is to come. A transaction that is rolled back leaves this too high until the next start.
    func expect(files: Int, bytes: Int64) {
        change {
            $0.filesTotal += files
            $0.bytesTotal = $0.bytesTotal.adding(bytes)
        }
    }
}

import Model
import Synchronization

/// The counts of the downloads that are done and of those that are still to come. Callable from any thread.
final class Counters: Sendable {
    private let progress = Mutex(SyncProgress())

    var current: SyncProgress { progress.withLock { $0 } }

    func change(_ body: (inout SyncProgress) -> Void) { progress.withLock { body(&$0) } }

    /// Sets the totals to what is done plus what the journal holds.
    func begin(_ pending: (files: Int, bytes: Int64)) {
        progress.withLock { progress in
            progress.filesTotal = progress.filesDone + pending.files
            progress.bytesTotal = progress.bytesDone.adding(pending.bytes)
        }
    }

    /// Notes that nothing is left to come.
    func endTotals() {
        change { progress in
            (progress.filesTotal, progress.bytesTotal) = (progress.filesDone, progress.bytesDone)
        }
    }

    /// Adds to the totals. A transaction that is rolled back leaves the totals too high until nothing is left to come.
    func expect(files: Int, bytes: Int64) {
        change {
            $0.filesTotal += files
            $0.bytesTotal = $0.bytesTotal.adding(bytes)
        }
    }
}

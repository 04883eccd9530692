import Model
import Synchronization

/// The task of a worker, and the download that the task is at. A task for each download would cost more than a small
/// file's bytes.
final class DownloadWorker: Sendable {
    private struct State {
        var end: (@Sendable () -> Void)?
        /// The record of the download under way.
        var current: SyncRecordID?
        /// Whether a download was cancelled before the task was known.
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Notes what cancels the worker's task.
    func work(endedBy end: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.end = end
            return state.isCancelled
        }
        if isCancelled { end() }
    }

    /// Notes that the worker begins a record's download.
    func begin(_ record: SyncRecordID) { state.withLock { $0.current = record } }

    /// Notes that the download has ended. It can no longer be cancelled.
    func end() { state.withLock { $0.current = nil } }

    /// Cancels the download of a record, if it is under way. The worker's task ends with it, and the next downloads are
    /// another worker's.
    func cancel(_ record: SyncRecordID) {
        let end: (@Sendable () -> Void)? = state.withLock { state in
            guard state.current == record else { return nil }
            state.isCancelled = true
            return state.end
        }
        end?()
    }
}

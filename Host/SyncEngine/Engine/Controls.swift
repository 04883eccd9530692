import Model
import Synchronization
import Threads

/// What others tell a running engine.
struct Signals: Hashable, Sendable {
    var isOnline = true
    /// More records are to come.
    var expectsMore = false
    /// There may be new records.
    var hasNews = true
    /// What is in memory may be out of date.
    var isStale = true
    /// What held up everything is over.
    var isReset = false
}

/// Takes what others tell a running engine, from any thread.
///
/// A transaction that changes a record which the engine may have in memory suspends it first: it is not started until the
/// journal was read again, in a transaction of its own and so after the other's end, whichever way that ended.
final class Controls: Sendable {
    struct State {
        var signals = Signals()
        /// What the machine was told last.
        fileprivate var told = Signals()
        /// The engine is at work.
        var isRunning = false
        /// Journal and files agree: a run ended with nothing on its way into the tree.
        var isTidy = false
        /// Records that a transaction took away or changed.
        var suspended: Set<SyncRecordID> = []
        /// Records that were taken away while their download was under way.
        var cancelled: Set<SyncRecordID> = []
        /// Ends the request of a download that is under way.
        var enders: [SyncRecordID: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())
    let bell = Bell()
    let rest = TreeRest()

    func with<T>(_ body: (inout sending State) -> sending T) -> sending T { state.withLock(body) }

    /// Says something, and has the engine hear it.
    func signal(_ body: (inout Signals) -> Void) {
        state.withLock { body(&$0.signals) }
        bell.ring()
    }

    /// What was said since this was called last.
    func takeSignals() -> Signals {
        state.withLock { state in
            let signals = state.signals
            (state.signals.hasNews, state.signals.isStale, state.signals.isReset) = (false, false, false)
            state.told = state.signals
            return signals
        }
    }

    /// Whether something was said since ``takeSignals()``.
    var hasSignals: Bool { state.withLock { $0.signals != $0.told } }

    /// Keeps a record from being started from what is in memory. With `cancels` a download of it that is under way ends.
    func suspend(_ record: SyncRecordID, cancels: Bool) {
        let end: (@Sendable () -> Void)? = state.withLock { state in
            state.suspended.insert(record)
            state.signals.isStale = true
            guard cancels, let end = state.enders[record] else { return nil }
            state.cancelled.insert(record)
            return end
        }
        end?()
        bell.ring()
    }
}

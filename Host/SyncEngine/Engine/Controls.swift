import Model
import Synchronization
import Threads

/// What others tell a running engine.
struct EngineFlags: Hashable, Sendable {
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
        var flags = EngineFlags()
        /// What the machine was told last.
        fileprivate var told = EngineFlags()
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
    let signal = Signal()
    let treeAccess = TreeAccess()

    func with<T>(_ body: (inout sending State) -> sending T) -> sending T { state.withLock(body) }

    /// Says something, and has the engine hear it.
    func update(_ body: (inout EngineFlags) -> Void) {
        state.withLock { body(&$0.flags) }
        signal.send()
    }

    /// What was said since this was called last.
    func takeFlags() -> EngineFlags {
        state.withLock { state in
            let flags = state.flags
            (state.flags.hasNews, state.flags.isStale, state.flags.isReset) = (false, false, false)
            state.told = state.flags
            return flags
        }
    }

    /// Whether something was said since ``takeFlags()``.
    var hasNewFlags: Bool { state.withLock { $0.flags != $0.told } }

    /// Keeps a record from being started from what is in memory. With `cancels` a download of it that is under way ends.
    func suspend(_ record: SyncRecordID, cancels: Bool) {
        let end: (@Sendable () -> Void)? = state.withLock { state in
            state.suspended.insert(record)
            state.flags.isStale = true
            guard cancels, let end = state.enders[record] else { return nil }
            state.cancelled.insert(record)
            return end
        }
        end?()
        signal.send()
    }
}

import Model
import Synchronization
import Threads

/// The state that other parts tell a running engine.
struct EngineFlags: Hashable, Sendable {
    var isOnline = true
    /// Whether more records will come.
    var expectsMore = false
    /// Whether there may be new records.
    var hasNews = true
    /// Whether the state in memory may be out of date.
    var isStale = true
    /// Whether the cause of a hold on everything is over.
    var isReset = false
    /// Whether somebody waits for the server now.
    var isDemanded = false
}

/// The controls by which other parts tell a running engine something, from any thread.
///
/// A transaction that changes a record which the engine may have in memory suspends the record first. The engine then
/// does not start the record before it has read the journal again. The engine reads in a transaction of its own, and so
/// after the end of the other transaction, however that ended.
final class Controls: Sendable {
    struct State {
        var flags = EngineFlags()
        /// The flags that the machine was told last.
        fileprivate var told = EngineFlags()
        /// Whether the downloads that were handed out may be out of date: the machine was told so, and they are not
        /// recalled yet.
        fileprivate var isRecalling = false
        /// Whether the engine is at work.
        var isRunning = false
        /// Whether journal and files agree: a run ended with nothing on its way into the tree.
        var isTidy = false
        /// The records that a transaction took away or changed.
        var suspended: Set<SyncRecordID> = []
        /// The records that were taken away while their download was under way.
        var cancelled: Set<SyncRecordID> = []
        /// The functions that cancel the requests of downloads under way.
        var enders: [SyncRecordID: @Sendable () -> Void] = [:]
        /// The batches of downloads under way.
        var batches: [BatchDownload] = []
        /// The functions that cancel the requests of changes under way.
        var changeEnders: [SyncRecordID: @Sendable () -> Void] = [:]
        /// The changes whose requests are to end, or have ended, since somebody cancelled them.
        var endedChanges: Set<SyncRecordID> = []
        /// A number that grows with each piece of news.
        fileprivate var version = 0
        /// The news that the machine was told last.
        fileprivate(set) var toldVersion = 0
        /// The news of which the engine knew when nothing was left for it to do; nil if something is.
        fileprivate var restVersion: Int?

        /// Whether a download that was handed out may start now.
        func mayStart(_ record: SyncRecordID) -> Bool {
            flags.isOnline && !flags.isStale && !isRecalling && !suspended.contains(record)
        }
    }

    private let state = Mutex(State())
    let signal = Signal()
    let treeAccess = TreeAccess()

    func with<T>(_ body: (inout sending State) -> sending T) -> sending T { state.withLock(body) }

    /// Changes the flags and sends the signal to the engine.
    /// - Returns: The number of this piece of news.
    @discardableResult
    func update(_ body: (inout EngineFlags) -> Void) -> Int {
        let version = state.withLock { state in
            body(&state.flags)
            state.version += 1
            return state.version
        }
        signal.send()
        return version
    }

    /// Returns the flags, and resets those that report events. After a report that the state in memory may be out of
    /// date, no download starts before ``letStart()``.
    func takeFlags() -> EngineFlags {
        state.withLock { state in
            let flags = state.flags
            state.isRecalling = state.isRecalling || flags.isStale
            (state.flags.hasNews, state.flags.isStale) = (false, false)
            (state.flags.isReset, state.flags.isDemanded) = (false, false)
            (state.told, state.toldVersion) = (state.flags, state.version)
            return flags
        }
    }

    /// Lets downloads start again, since those that may have been out of date are recalled.
    func letStart() { state.withLock { $0.isRecalling = false } }

    /// Whether the flags have changed since ``takeFlags()`` was last called.
    var hasNewFlags: Bool { state.withLock { $0.flags != $0.told } }

    /// Notes whether anything is left that the engine can go on with now.
    func setResting(_ isResting: Bool) { state.withLock { $0.restVersion = isResting ? $0.toldVersion : nil } }

    /// Whether nothing is left that the engine can go on with now, and it has heard all news.
    var isResting: Bool { state.withLock { $0.restVersion == $0.version && $0.flags == $0.told } }

    /// Whether downloads may start.
    var isOnline: Bool { state.withLock { $0.flags.isOnline } }

    /// Notes that a download has ended, and can no longer be cancelled.
    /// - Returns: Whether it was cancelled.
    func takeEnder(of record: SyncRecordID) -> Bool {
        state.withLock { state in
            state.enders[record] = nil
            return state.cancelled.remove(record) != nil
        }
    }

    /// Keeps a record from being started from memory. With `cancels`, a download of the record that is under way ends.
    func suspend(_ record: SyncRecordID, cancels: Bool) {
        let (end, batches): ((@Sendable () -> Void)?, [BatchDownload]) = state.withLock { state in
            state.suspended.insert(record)
            state.flags.isStale = true
            guard cancels else { return (nil, []) }
            let end = state.enders[record]
            if end != nil { state.cancelled.insert(record) }
            return (end, state.batches)
        }
        end?()
        for batch in batches { batch.takeAway(record) }
        signal.send()
    }
}

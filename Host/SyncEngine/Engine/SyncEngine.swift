public import Database
public import LocalTree
public import Logging
public import Model
import Synchronization
import Threads

/// Does what persons and plugins ask for: each request is a record in the journal before anything is done for it, and stays
/// there until it is done, whatever happens in between.
///
/// An action has five parts: early checks and preflight (``enqueue(_:in:)``, in the transaction that records it), schedule and
/// result handling (``run(with:)`` and ``drain(only:with:)``), and deschedule (``cancel(_:)``), which takes back what preflight did.
///
/// All functions may be called from any task or thread; ``run(with:)`` and ``drain(only:with:)`` one at a time.
public final class SyncEngine: Sendable {
    /// What the engine tells, and asks at any time.
    public struct Callbacks: Sendable {
        /// The server refuses the account (wrong password, certificate not trusted). Nothing more is sent before
        /// ``SyncEngine/accountChanged()``.
        public var accountRefused: @Sendable (Failure) -> Void
        /// What a plugin asked for is not done after all. Called on any thread.
        public var dropped: @Sendable (DroppedAction) -> Void
        /// When a program used the copy at a path, if its item does not say so yet. Called on a thread of the database's.
        public var usedJustNow: @Sendable (ItemPath) -> Timestamp?

        public init(
            accountRefused: @escaping @Sendable (Failure) -> Void = { _ in },
            dropped: @escaping @Sendable (DroppedAction) -> Void = { _ in },
            usedJustNow: @escaping @Sendable (ItemPath) -> Timestamp? = { _ in nil }
        ) {
            self.accountRefused = accountRefused
            self.dropped = dropped
            self.usedJustNow = usedJustNow
        }
    }

    /// What the engine asks of others while it works.
    public struct Partners: Sendable {
        /// The server has something else than the database says: the folder is to be listed again. Returns when that was tried.
        public var relist: @Sendable (ItemPath) async -> Void
        /// Whether the policies of who asked for a download cover the item still; nil: that is not known yet. Called on a thread of
        /// the database's.
        public var isCovered: @Sendable (Item, DownloadTrigger) throws -> Bool?
        /// How many records of those who asked may be under way at a time; who is not named may have any number.
        public var maximums: @Sendable () -> [DownloadTrigger: Int]

        public init(
            relist: @escaping @Sendable (ItemPath) async -> Void,
            isCovered: @escaping @Sendable (Item, DownloadTrigger) throws -> Bool? = { _, _ in true },
            maximums: @escaping @Sendable () -> [DownloadTrigger: Int] = { [:] }
        ) {
            self.relist = relist
            self.isCovered = isCovered
            self.maximums = maximums
        }
    }

    let database: Database
    let tree: Tree
    let source: any FileSource
    let limits: Limits
    let account: String
    let isFirstSinceBoot: Bool
    let clock: HostClock
    /// The time that waits are by. However the clock is set, none becomes longer.
    let waitTime: @Sendable () -> Timestamp
    let callbacks: Callbacks
    let logger: Logger
    let controls = Controls()
    let counters = Counters()
    /// Why waiting records wait, as far as it happened since the start.
    let reasons = Mutex<[SyncRecordID: Failure]>([:])
    /// Complete files in `incoming/` that the tree did not take when they were put in place, by their records.
    let notTaken = Mutex<[SyncRecordID: Landing]>([:])
    /// Where files are put in place and copies taken out of the tree: it may block on the disk.
    let threads: any TaskExecutor
    /// What ``threads`` is, unless it is another's.
    private let ownThreads: BlockingExecutor?
    /// Where downloads run, in turn.
    let downloadThreads: [any TaskExecutor]

    /// - Parameters:
    ///   - account: The account's name, for the issue about its password.
    ///   - isFirstSinceBoot: As the vault says: downloads that were not complete are fetched again from their beginning.
    ///   - limits: `downloads` is how many of them may be under way at once.
    public init(
        account: String, database: Database, tree: Tree, source: any FileSource,
        isFirstSinceBoot: Bool, limits: Limits = Limits(), clock: HostClock = .system, callbacks: Callbacks,
        logger: Logger
    ) {
        self.account = account
        self.isFirstSinceBoot = isFirstSinceBoot
        self.database = database
        self.tree = tree
        self.source = source
        self.limits = limits
        self.clock = clock
        waitTime = clock.steady()
        self.callbacks = callbacks
        self.logger = logger
        if let single = Workplace.single {
            (threads, ownThreads, downloadThreads) = (single, nil, [single])
            return
        }
        // One that puts in place, and one for each download that has none to arrive on.
        let arriving = source.downloadThreads
        let own = BlockingExecutor(name: "sync engine", threads: arriving.isEmpty ? max(1, limits.downloads) + 1 : 1)
        (threads, ownThreads, downloadThreads) = (own, own, arriving.isEmpty ? [own] : arriving)
    }

    deinit { ownThreads?.close() }
}

public import Database
public import LocalTree
public import Logging
public import Model

/// The engine that carries out the requests of persons and plugins. Each request is a record in the journal before
/// anything is done for it, and stays in the journal until it is done, whatever happens in between.
///
/// An action has five parts: early checks and preflight (``enqueue(_:in:)``, in the transaction that records the
/// action), schedule and result handling (``run(with:)`` and ``drain(only:with:)``), and deschedule (``cancel(_:)``),
/// which takes back what preflight did.
///
/// All functions may be called from any task or thread. Only one call of ``run(with:)`` or ``drain(only:with:)`` may be
/// active at a time.
public final class SyncEngine: Sendable {
    /// The functions that the engine calls at any time.
    public struct Callbacks: Sendable {
        /// Called when the server rejects the account (wrong password, certificate not trusted). The engine sends no
        /// more requests before ``SyncEngine/accountChanged()``.
        public var accountRefused: @Sendable (Failure) -> Void
        /// Called when the server cannot serve a request now (503).
        public var unavailable: @Sendable () -> Void
        /// Called when a plugin's request is not carried out after all. Called on any thread.
        public var dropped: @Sendable (DroppedAction) -> Void
        /// Returns the time when a program used the copy at a path, if the item does not say so yet. Called on a thread
        /// of the database.
        public var usedJustNow: @Sendable (ItemPath) -> Timestamp?
        /// Called when the server has changed, or may have changed, places for this account, before the record of the
        /// change is removed. Called on any thread.
        public var changed: @Sendable ([PendingPlace]) -> Void

        /// Creates callbacks that do nothing unless given.
        public init(
            accountRefused: @escaping @Sendable (Failure) -> Void = { _ in },
            unavailable: @escaping @Sendable () -> Void = {},
            dropped: @escaping @Sendable (DroppedAction) -> Void = { _ in },
            usedJustNow: @escaping @Sendable (ItemPath) -> Timestamp? = { _ in nil },
            changed: @escaping @Sendable ([PendingPlace]) -> Void = { _ in }
        ) {
            self.accountRefused = accountRefused
            self.unavailable = unavailable
            self.dropped = dropped
            self.usedJustNow = usedJustNow
            self.changed = changed
        }
    }

    /// The functions that the engine calls while it works.
    public struct Partners: Sendable {
        /// Lists a folder again, since the server's content differs from the database's. Returns after the try.
        public var relist: @Sendable (ItemPath) async -> Void
        /// Tells whether the requester's policies still cover the item of a download. Nil means that this is not known
        /// yet. Called on a thread of the database.
        public var isCovered: @Sendable (Item, DownloadTrigger) throws -> Bool?
        /// Returns a number that differs from an earlier one if what ``isCovered`` says of any item may have changed since,
        /// other than by the passing of time; nil if there is none. Callable on any thread.
        public var coverageVersion: @Sendable () -> Int?
        /// Called after a download came that was only wanted while a policy covers its item, and that none covers any
        /// more: the policies were changed while the file was being put in place. Called on any thread.
        public var cameUncovered: @Sendable () -> Void
        /// Returns the number of records that each requester may have under way at a time. A requester that is not in
        /// the dictionary may have any number.
        public var maximums: @Sendable () -> [DownloadTrigger: Int]

        /// Creates partners that cover every item and set no maximums unless given.
        public init(
            relist: @escaping @Sendable (ItemPath) async -> Void,
            isCovered: @escaping @Sendable (Item, DownloadTrigger) throws -> Bool? = { _, _ in true },
            coverageVersion: @escaping @Sendable () -> Int? = { nil },
            cameUncovered: @escaping @Sendable () -> Void = {},
            maximums: @escaping @Sendable () -> [DownloadTrigger: Int] = { [:] }
        ) {
            self.relist = relist
            self.isCovered = isCovered
            self.coverageVersion = coverageVersion
            self.cameUncovered = cameUncovered
            self.maximums = maximums
        }
    }

    let context: ActionContext
    let waits = RecordWaits()

    /// Creates an engine.
    /// - Parameters:
    ///   - account: The account's name, for the issue about its password.
    ///   - isFirstSinceBoot: Whether this is the first start since the machine booted, as the vault reports. If so,
    ///     downloads that were not complete are fetched again from their beginning.
    ///   - limits: The limits, of which `downloads`, `uploads` and `actions` are the numbers of downloads, uploads and
    ///     other changes of the server that may be under way at once.
    ///   - keepFree: The bytes that downloads leave free on the file system of the copies. Nil means: 500 MB or 5 % of
    ///     the file system, whichever is less.
    ///   - rooms: The rooms that the engines of a process share.
    ///   - onConflict: The account's rules for uploads that meet another version on the server.
    ///   - removalGuard: The limits above which plugins' deletions on the server wait for a person. Nil means: no number
    ///     is too many.
    public init(
        account: String, database: Database, tree: Tree, source: any FileSource & ChangeServer,
        isFirstSinceBoot: Bool, limits: Limits = Limits(), keepFree: Int64? = nil,
        rooms: DownloadRooms = DownloadRooms(), onConflict: ConflictRules = ConflictRules(),
        removalGuard: RemovalGuard? = RemovalGuard(), clock: HostClock = .system, callbacks: Callbacks, logger: Logger
    ) {
        context = ActionContext(
            account: account, database: database, tree: tree, source: source, isFirstSinceBoot: isFirstSinceBoot,
            limits: limits, room: rooms.room(on: tree.device, keepFree: keepFree), onConflict: onConflict,
            removalGuard: removalGuard, clock: clock, callbacks: callbacks, logger: logger)
    }

    /// The progress of the downloads.
    public var progress: SyncProgress { counters.current }

    /// The transfers that are under way, the oldest record first.
    public var transfers: [TransferUnderWay] { context.underWay.transfers }

    /// Whether a running engine has nothing left that can go on within ten seconds. What waits for a person, for a time
    /// or for the server is left then. Callable from any thread.
    public var isResting: Bool { controls.isResting }

    /// Whether downloads may start.
    public var isOnline: Bool { controls.isOnline }
}

extension SyncEngine: EnginePart {}

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
        account: String, database: Database, tree: Tree, source: any FileSource,
        server: any ChangeServer, isFirstSinceBoot: Bool, limits: Limits = Limits(), keepFree: Int64? = nil,
        rooms: DownloadRooms = DownloadRooms(), onConflict: ConflictRules = ConflictRules(),
        removalGuard: RemovalGuard? = RemovalGuard(), clock: HostClock = .system, callbacks: EngineCallbacks,
        logger: Logger
    ) {
        context = ActionContext(
            account: account, database: database, tree: tree, source: source, server: server,
            isFirstSinceBoot: isFirstSinceBoot,
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

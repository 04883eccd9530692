import Connection
import Database
import EventLoops
import ItemList
import ItemPolicies
import LocalTree
import Logging
public import Model
import PluginHost
import SyncEngine
import Synchronization
import Threads
import Vault

/// An account at work: its vault, which nobody else has open meanwhile, its server, its plugins and its sync engine.
///
/// All functions may be called from any task; of ``runOnce(timeout:)`` and ``run()`` one, once.
public final class AccountHost: Sendable {
    public let bookmark: Bookmark
    let settings: Settings
    let clock: HostClock
    let logger: Logger
    let vault: Vault
    let connection: Connection
    let engine: SyncEngine
    let policies: ItemPolicies
    let list: ItemListUpdate
    let loops: EventLoops
    let history: PolicyHistory
    let credentials: CredentialsSource
    let process: HostProcess
    let plugins: [PluginInstance]
    let state: AccountState

    var database: Database { vault.database }

    /// The programs whose reading of copies is no use of them, as plugins are set to say.
    var ignoredReaders: [String] { plugins.flatMap(\.heeded.ignoredReaders) }

    /// What the sync engine asks of the other parts while it works.
    var partners: SyncEngine.Partners {
        .init(
            relist: { [list] in await list.relist($0) },
            isCovered: { [policies] in try policies.covers($0, for: PluginID(of: $1)) },
            maximums: { [policies] in policies.maximums })
    }

    private init(
        _ parts: Parts, process: HostProcess, credentials: @escaping CredentialsSource, state: AccountState,
        plugins: [PluginInstance]
    ) {
        (bookmark, settings, clock, logger) = (parts.bookmark, process.settings, parts.clock, parts.logger)
        (vault, connection, engine, policies, list, loops) = (
            parts.vault, parts.connection, parts.engine, parts.policies, parts.list, parts.loops
        )
        self.process = process
        self.credentials = credentials
        self.state = state
        self.plugins = plugins
        history = PolicyHistory(vault.database, vault: bookmark.vault, clock: clock)
    }

    private struct Parts {
        var bookmark: Bookmark
        var clock: HostClock
        var logger: Logger
        var vault: Vault
        var connection: Connection
        var engine: SyncEngine
        var policies: ItemPolicies
        var list: ItemListUpdate
        var loops: EventLoops
    }

    /// Opens an account's vault and starts its plugins. Nothing is asked of the server yet.
    static func open(
        _ bookmark: Bookmark, credentials: @escaping CredentialsSource, in process: HostProcess
    ) async throws -> AccountHost {
        let options = process.options
        let system = options.clock
        var logger = options.logger
        logger[metadataKey: "account"] = "\(bookmark.name)"
        let secret = try await credentials()
        let vault = try await runBlocking {
            try Vault.open(at: bookmark.vault, files: bookmark.files, clock: system.now)
        }
        let connection = options.connect(
            bookmark, secret.credentials, process.settings.limits, system, logger)
        do {
            let state = AccountState(
                secret, clock: try await vault.database.read { try ClockSanity($0, clock: system) })
            let clock = system.believed { state.clock }
            let trace = try await process.openTrace()
            let engine = SyncEngine(
                account: bookmark.name, database: vault.database, tree: vault.tree, source: connection,
                isFirstSinceBoot: vault.isFirstSinceBoot, limits: process.settings.limits, clock: clock,
                callbacks: .init(
                    accountRefused: { if state.refuse($0) { state.scanRequests.send() } },
                    dropped: { dropped in
                        trace?.dropped(
                            dropped.action.kind.rawValue, path: dropped.path.text, by: PluginID(of: dropped.reason),
                            because: dropped.why, at: clock.now())
                    },
                    usedJustNow: { path in state.uses.with { $0.untold(path) } }),
                logger: logger)
            // No download is tried before the server was found.
            engine.setOnline(false)
            let plugins = try await process.startPlugins(
                for: bookmark, database: vault.database, clock: clock, logger: logger,
                noted: { state.mistakes.send() })
            do {
                let names = plugins.map(\.plugin.text).joined(separator: "\n")
                try await vault.database.write { try $0.meta.set(.runningPlugins, names) }
            } catch {
                await process.stopPlugins(plugins)
                throw error
            }
            let policies = ItemPolicies(
                database: vault.database, plugins: plugins,
                sink: SyncSink(engine: engine, clock: clock, trace: trace), files: bookmark.files,
                world: { .current(now: $0) }, clock: clock, logger: logger)
            let mover = TreeMover(database: vault.database, tree: vault.tree, engine: engine, logger: logger)
            let list = ItemListUpdate(
                database: vault.database, connection: connection, clock: clock, logger: logger,
                // More than are on the network: what some have to write is committed together while others are listed.
                concurrency: process.settings.limits.connections * 3, reservesDotLarder: vault.tree.reservesDotLarder,
                removalGuard: process.settings.removalGuard, carryOutMoves: { try await mover.carryOut() },
                fetchesAgain: { try engine.fetchAgain($0, in: $1) })
            let loops = EventLoops(
                database: vault.database, connection: connection, plugins: plugins,
                removalGuard: process.settings.removalGuard, clock: clock,
                callbacks: .init(
                    requestScan: { state.scanRequests.send() },
                    refused: {
                        state.refuse()
                        state.scanRequests.send()
                    },
                    loopRefused: { state.loopRefusals.send() },
                    stop: { await process.stopPlugins([$0]) }, start: { await process.startPluginAgain($0) },
                    recordsChanged: { if $0.contains(where: \.isCalendars) { state.calendars.send() } }),
                logger: logger)
            let listeners = CommitListeners(state: state, policies: policies, engine: engine)
            vault.database.setCommitObserver(listeners.hear)
            let parts = Parts(
                bookmark: bookmark, clock: clock, logger: logger, vault: vault, connection: connection, engine: engine,
                policies: policies, list: list, loops: loops)
            return AccountHost(parts, process: process, credentials: credentials, state: state, plugins: plugins)
        } catch {
            await connection.shutdown()
            // What went wrong first is what counts.
            do { try vault.close() } catch { logger.debug("\(error)") }
            throw error
        }
    }

    /// Stops the plugins, closes the connections and gives the vault free. No run may be under way.
    /// - Throws: As ``Database/close()``; the vault is free then too.
    public func close() async throws(Failure) {
        let others = loops.instances.filter { instance in !plugins.contains { $0 === instance } }
        await process.stopPlugins(plugins + others)
        await connection.shutdown()
        try vault.close()
    }

    /// How far the downloads are.
    public var progress: TransferProgress { TransferProgress(engine.progress) }
}

/// Who hears of what was committed, and in which order. Called on the database's writer: it must return at once.
private struct CommitListeners: Sendable {
    let state: AccountState
    let policies: ItemPolicies
    let engine: SyncEngine

    func hear(_ changes: CommitChanges) {
        state.count(changes)
        policies.databaseChanged(changes)
        if changes.policiesChanged {
            engine.policiesChanged()
            state.policyChanges.send()
        }
        if changes.recordsChanged || changes.changesItems { engine.wake() }
    }
}

/// What a running account remembers between its parts.
final class AccountState: Sendable {
    private struct Values {
        var isRefused = false
        /// Why, if that was told.
        var refusedBecause: Failure?
        var secret: AccountSecret
        /// Written since, and not used yet.
        var newSecret: AccountSecret?
        /// What the server took last.
        var worked: Credentials?
        var owesTrigger = true
        var checkedPolicies = 0
        var clock: ClockSanity
        var moves = 0
        var calendarObjects = 0
        var removed = 0
        var reopens = false
    }

    private let values: Mutex<Values>
    /// Sent when a scan is due before its time.
    let scanRequests = Signal()
    /// Sent when calendars or what is in them changed.
    let calendars = Signal()
    /// Sent when the server refuses the secret for what a loop asks, and not for the account's files.
    let loopRefusals = Signal()
    /// Sent when policies were changed.
    let policyChanges = Signal()
    /// Sent when a plugin failed or broke the rules.
    let mistakes = Signal()
    /// Which copies programs use, while the tree is watched.
    let uses = UseLog()

    init(_ secret: AccountSecret, clock: ClockSanity) {
        values = Mutex(Values(secret: secret, clock: clock))
    }

    /// What is made of the system's clock.
    var clock: ClockSanity { values.withLock { $0.clock } }

    /// Looks at the system's clocks with what the server says of the time.
    /// - Returns: the clock's state before and after.
    func checkClock(_ clock: HostClock, aheadOfServer ahead: Duration?) -> (before: ClockSanity, after: ClockSanity) {
        values.withLock { values in
            let before = values.clock
            values.clock.observe(now: clock.now(), monotonic: clock.monotonic(), aheadOfServer: ahead)
            return (before, values.clock)
        }
    }

    /// Counts what a transaction committed.
    func count(_ changes: CommitChanges) {
        guard changes.moves > 0 || changes.calendarObjects > 0 || changes.removedCopies > 0 else { return }
        values.withLock { values in
            values.moves += changes.moves
            values.calendarObjects += changes.calendarObjects
            values.removed += changes.removedCopies
        }
    }

    /// What was committed since the account was opened.
    var counts: (moves: Int, calendarObjects: Int, removed: Int) {
        values.withLock { ($0.moves, $0.calendarObjects, $0.removed) }
    }

    /// The server refused the account: it is not asked again before ``AuthenticationRetry`` says so.
    /// - Returns: whether that is news.
    @discardableResult
    func refuse(_ why: Failure? = nil) -> Bool {
        values.withLock { values in
            defer { values.isRefused = true }
            if let why { values.refusedBecause = why }
            return !values.isRefused
        }
    }
    var isRefused: Bool { values.withLock { $0.isRefused } }
    var refusedBecause: Failure? { values.withLock { $0.refusedBecause } }

    /// The secret that the server is asked with.
    var secret: AccountSecret { values.withLock { $0.secret } }

    /// The server is asked again, with this secret.
    func retry(with secret: AccountSecret) {
        values.withLock { ($0.secret, $0.newSecret, $0.isRefused, $0.refusedBecause) = (secret, nil, false, nil) }
    }

    /// The newest secret that is known.
    var newestSecret: AccountSecret { values.withLock { $0.newSecret ?? $0.secret } }

    /// A secret that was written anew, to be used as soon as nothing else is under way.
    func offer(_ secret: AccountSecret) { values.withLock { $0.newSecret = secret } }
    var offeredSecret: AccountSecret? { values.withLock { $0.newSecret } }

    /// The server took the secret.
    func noteWorked() { values.withLock { $0.worked = $0.secret.credentials } }

    /// Whether the server took this very secret before; nil: it took none since the start.
    var hasWorked: Bool? { values.withLock { values in values.worked.map { $0 == values.secret.credentials } } }

    /// The version of the policies of which it was last seen after a scan whether they are of use still; 0: never.
    var checkedPolicies: Int { values.withLock { $0.checkedPolicies } }
    func noteCheckedPolicies(_ version: Int) { values.withLock { $0.checkedPolicies = version } }

    /// The run ends so that the account is opened anew.
    func reopen() { values.withLock { $0.reopens = true } }
    var reopens: Bool { values.withLock { $0.reopens } }

    /// A scan changed something and did not finish.
    func oweTrigger() { values.withLock { $0.owesTrigger = true } }

    /// - Returns: whether this is the first scan that finished since the start, or since one that changed something did not.
    func finishScan() -> Bool {
        values.withLock { values in
            defer { values.owesTrigger = false }
            return values.owesTrigger
        }
    }
}

/// How far the downloads are that were asked for since nothing was to be done last.
public struct TransferProgress: Hashable, Sendable {
    public var filesDone: Int
    public var filesTotal: Int
    public var bytesDone: Int64
    public var bytesTotal: Int64

    init(_ progress: SyncProgress) {
        (filesDone, filesTotal) = (progress.filesDone, progress.filesTotal)
        (bytesDone, bytesTotal) = (progress.bytesDone, progress.bytesTotal)
    }
}

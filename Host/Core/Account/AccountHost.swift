import Connection
import EventLoops
import ItemPolicies
import Logging
public import Model
import PluginHost
import Storage
import SyncEngine
import Synchronization

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
    private let plugins: [PluginInstance]
    let state: AccountState

    var database: Database { vault.database }

    private init(
        _ parts: Parts, process: HostProcess, credentials: @escaping CredentialsSource, state: AccountState,
        plugins: [PluginInstance]
    ) {
        (bookmark, settings, clock, logger) = (parts.bookmark, process.settings, process.options.clock, parts.logger)
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
        let clock = options.clock
        var logger = options.logger
        logger[metadataKey: "account"] = "\(bookmark.name)"
        let secret = try await credentials()
        let vault = try await blocking {
            try Vault.open(at: bookmark.vault, files: bookmark.files, clock: clock.now)
        }
        do {
            let connection = Connection(
                bookmark: bookmark, credentials: secret, limits: process.settings.limits, clock: clock, logger: logger)
            let lastClock = try await vault.database.read { try $0.metaInteger(.lastClock) }
            let state = AccountState(
                secret,
                clock: ClockSanity(last: lastClock.map { .init(wall: Timestamp(nanoseconds: $0), monotonic: nil) }))
            let later = MadeLater()
            let engine = SyncEngine(
                account: bookmark.name, database: vault.database, tree: vault.tree, source: connection,
                isFirstSinceBoot: vault.isFirstSinceBoot, limits: process.settings.limits, clock: clock,
                callbacks: .init(
                    relist: { await later.parts?.list.relist($0) }, accountRefused: { _ in state.refuse() },
                    isCovered: { try later.parts?.policies.covers($0, for: PluginID(of: $1)) ?? true },
                    usedJustNow: { path in state.uses.with { $0.untold(path) } }),
                logger: logger)
            // No download is tried before the server was found.
            engine.setOnline(false)
            let plugins = try await process.startPlugins(for: bookmark, database: vault.database, logger: logger)
            do {
                let names = plugins.map(\.plugin.text).joined(separator: "\n")
                try await vault.database.write { try $0.setMeta(.runningPlugins, .text(names)) }
            } catch {
                await process.stopPlugins(plugins)
                throw error
            }
            let policies = ItemPolicies(
                database: vault.database, plugins: plugins,
                sink: SyncSink(engine: engine, logger: logger), files: bookmark.files,
                clock: clock, believed: { state.believed($0) }, logger: logger)
            let mover = TreeMover(database: vault.database, tree: vault.tree, engine: engine, logger: logger)
            let list = ItemListUpdate(
                database: vault.database, connection: connection, clock: clock, logger: logger,
                // More than are on the network: what some have to write is committed together while others are listed.
                concurrency: process.settings.limits.connections * 3, reservesDotLarder: vault.tree.reservesDotLarder,
                removalGuard: process.settings.removalGuard, carryOutMoves: { try await mover.carryOut() })
            let loops = EventLoops(
                database: vault.database, connection: connection, plugins: plugins,
                interval: process.settings.loopInterval, clock: clock,
                callbacks: .init(
                    look: { state.looks.ring() },
                    refused: {
                        state.refuse()
                        state.looks.ring()
                    },
                    recordsChanged: { if $0.contains(where: \.isCalendars) { state.calendars.ring() } }),
                logger: logger)
            later.set((policies, list))
            vault.database.setCommitObserver { summary in
                policies.databaseChanged(summary)
                if summary.policiesChanged {
                    engine.policiesChanged()
                    state.policyChanges.ring()
                }
                if summary.recordsChanged || summary.changesItems { engine.wake() }
            }
            let parts = Parts(
                bookmark: bookmark, logger: logger, vault: vault, connection: connection, engine: engine,
                policies: policies, list: list, loops: loops)
            return AccountHost(parts, process: process, credentials: credentials, state: state, plugins: plugins)
        } catch {
            try vault.close()
            throw error
        }
    }

    /// Stops the plugins, closes the connections and gives the vault free. No run may be under way.
    public func close() async throws(Failure) {
        await process.stopPlugins(plugins)
        await connection.shutdown()
        try vault.close()
    }

    /// How far the downloads are.
    public var progress: TransferProgress { TransferProgress(engine.progress) }
}

/// What a running account remembers between its parts.
final class AccountState: Sendable {
    private struct Values {
        var isRefused = false
        var credentials: Credentials
        var owesTrigger = true
        var policiesLookedAt = 0
        var clock: ClockSanity
    }

    private let values: Mutex<Values>
    /// Rung when a scan is due before its time.
    let looks = Bell()
    /// Rung when calendars or what is in them changed.
    let calendars = Bell()
    /// Rung when policies were changed.
    let policyChanges = Bell()
    /// Which copies programs use, while the tree is watched.
    let uses = UseLog()

    init(_ credentials: Credentials, clock: ClockSanity) {
        values = Mutex(Values(credentials: credentials, clock: clock))
    }

    /// The time by which policies go.
    func believed(_ now: Timestamp) -> Timestamp { values.withLock { $0.clock.believed(now) } }

    /// Looks at the clocks with what the server says of the time.
    /// - Returns: the clock's state before and after.
    func look(at clock: HostClock, aheadOfServer ahead: Duration?) -> (before: ClockSanity, after: ClockSanity) {
        values.withLock { values in
            let before = values.clock
            values.clock.look(now: clock.now(), monotonic: clock.monotonic(), aheadOfServer: ahead)
            return (before, values.clock)
        }
    }

    /// The server refused the account: it is not asked again before there are new credentials.
    func refuse() { values.withLock { $0.isRefused = true } }
    var isRefused: Bool { values.withLock { $0.isRefused } }

    /// - Returns: whether these are others than those that were refused.
    func renew(_ credentials: Credentials) -> Bool {
        values.withLock { values in
            guard values.credentials != credentials else { return false }
            values.credentials = credentials
            values.isRefused = false
            return true
        }
    }

    /// The version of the policies of which it was last seen after a scan whether they are of use still; 0: never.
    var policiesLookedAt: Int { values.withLock { $0.policiesLookedAt } }
    func lookedAtPolicies(_ version: Int) { values.withLock { $0.policiesLookedAt = version } }

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

/// What the sync engine asks of parts that are made after it.
private final class MadeLater: Sendable {
    private let value = Mutex<(policies: ItemPolicies, list: ItemListUpdate)?>(nil)

    var parts: (policies: ItemPolicies, list: ItemListUpdate)? { value.withLock { $0 } }
    func set(_ parts: (policies: ItemPolicies, list: ItemListUpdate)) { value.withLock { $0 = parts } }
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

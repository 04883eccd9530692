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

/// An account at work: its vault, which no other process has open meanwhile, its server, its plugins and its sync
/// engine.
///
/// All functions may be called from any task. Of ``runOnce(timeout:)`` and ``run()``, only one may be called, and only
/// once.
public final class AccountHost: Sendable {
    /// The account's bookmark.
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
    let queries: LiveQueries
    let feed: EventFeed
    let history: PolicyHistory
    let credentials: CredentialsSource
    let process: HostProcess
    let plugins: [PluginInstance]
    let state: AccountState
    let work = AccountWork()

    var database: Database { vault.database }

    /// The programs whose reads of copies do not count as use, as the plugins' settings name them.
    var ignoredReaders: [String] { plugins.flatMap(\.heeded.ignoredReaders) }

    /// The services of the other parts that the sync engine uses while it works.
    var partners: any EnginePartners { AccountPartners(list: list, policies: policies) }

    private init(
        _ parts: Parts, process: HostProcess, credentials: @escaping CredentialsSource, state: AccountState,
        plugins: [PluginInstance]
    ) {
        (bookmark, settings, clock, logger) = (parts.bookmark, process.settings, parts.clock, parts.logger)
        (vault, connection, engine, policies, list, loops) = (
            parts.vault, parts.connection, parts.engine, parts.policies, parts.list, parts.loops
        )
        (queries, feed) = (parts.queries, parts.feed)
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
        var queries: LiveQueries
        var feed: EventFeed
    }

    /// Opens an account's vault and starts its plugins. No request is sent to the server yet.
    static func open(
        _ bookmark: Bookmark, known: String? = nil, credentials: @escaping CredentialsSource, in process: HostProcess,
        at place: AccountPlaces.Place
    ) async throws -> AccountHost {
        let options = process.options
        let system = options.clock
        var logger = options.logger.of("account")
        logger[metadataKey: "account"] = "\(bookmark.name)"
        let secret = try await credentials()
        let vault = try await runBlocking { [logger] () throws -> Vault in
            if let away = options.knownVaults?.away(bookmark.vault) { throw away }
            let vault = try Vault.open(
                at: bookmark.vault, files: bookmark.files, known: known, clock: system.now)
            do { try options.knownVaults?.add(bookmark.vault) } catch { logger.debug("\(error)") }
            return vault
        }
        await announce(vault, options)
        let connection = options.connect(
            bookmark, secret, process.settings.limits, options.bandwidth, system, logger.of("connection"))
        do {
            connection.heed(try await vault.database.approvals(of: bookmark))
            let state = AccountState(
                ServerSession(secret, poll: process.settings.poll, walk: process.settings.walk),
                clock: try await vault.database.read { try ClockSanity($0, clock: system) }, place: place)
            let clock = system.believed { state.clock }
            let trace = AccountTrace(to: try options.trace?.open(), options.traceFeeds, of: bookmark.name)
            let finishedChanges = FinishedChanges()
            let engine = SyncEngine(
                account: bookmark.name, database: vault.database, tree: vault.tree, source: connection.downloads,
                server: connection.writes,
                isFirstSinceBoot: vault.isFirstSinceBoot, limits: process.settings.limits,
                keepFree: process.settings.keepFree, rooms: process.rooms, onConflict: bookmark.onConflict,
                removalGuard: process.settings.removalGuard, clock: clock,
                callbacks: .init(
                    tell: { news in
                        switch news {
                        case .accountRefused(let failure): state.session.change { $0.refuse(because: failure) }
                        // A scan finds out whether all of the server is unavailable.
                        case .unavailable: state.session.change { $0.doubt() }
                        case .dropped(let dropped):
                            trace.dropped(
                                dropped.action.kind.rawValue, path: { dropped.path.text },
                                by: PluginID(of: dropped.reason), because: dropped.why, at: clock.now())
                        case .changed(let places): finishedChanges.note(places)
                        }
                    },
                    usedJustNow: { path in state.uses.with { $0.untold(path) } }),
                logger: logger.of("engine"))
            // No download is tried before the server is found.
            engine.setOnline(false)
            let address = bookmark.username.map { "\(bookmark.url) (as \($0))" } ?? bookmark.url
            if try await engine.noteAddress(address) { try await forgetRefusal(vault.database, engine) }
            let plugins = try await process.startPlugins(
                for: bookmark, database: vault.database, clock: clock, logger: logger,
                noted: { state.mistakes.send() }, hung: { state.hangs.send() })
            do {
                let names = plugins.map(\.plugin.text).joined(separator: "\n")
                try await vault.database.write { try $0.meta.set(.runningPlugins, names) }
            } catch {
                await process.stopPlugins(plugins)
                throw error
            }
            let policies = ItemPolicies(
                database: vault.database, plugins: plugins,
                sink: SyncSink(
                    engine: engine, clock: clock, trace: trace,
                    server: { try connection.server(rememberedIn: $0) }),
                files: bookmark.files,
                world: { .current(now: $0) }, clock: clock, logger: logger.of("policies"))
            let mover = TreeMover(
                database: vault.database, tree: vault.tree, engine: engine, logger: logger.of("engine"))
            let refreshes = FolderRefreshes()
            let list = ItemListUpdate(
                database: vault.database, connection: connection, clock: clock, logger: logger.of("list"),
                // This is more than the connections allow at once: while some listings wait to be committed together,
                // others are fetched.
                concurrency: { connection.listings.atOnce + 20 }, reservesDotLarder: vault.tree.reservesDotLarder,
                removalGuard: process.settings.removalGuard, carryOutMoves: { try await mover.carryOut() },
                removeLeftFolders: { try await mover.removeLeftFolders() },
                fetchesAgain: { try engine.fetchAgain($0, in: $1) }, finishedChanges: finishedChanges,
                refreshes: refreshes)
            let loops = EventLoops(
                database: vault.database, connection: connection, plugins: plugins,
                removalGuard: process.settings.removalGuard, clock: clock,
                callbacks: .init(
                    requestScan: { state.session.change { $0.call(for: .foldersLeft) } },
                    refused: { state.session.change { $0.refuse(because: connection.refusal?.failure) } },
                    loopRefused: { state.loopRefusals.send() },
                    stop: { await process.stopPlugins([$0]) }, start: { await process.startPluginAgain($0) },
                    recordsChanged: { if $0.contains(where: \.isCalendars) { state.calendars.send() } }),
                logger: logger.of("loops"))
            let queries = LiveQueries(
                vault.database, files: bookmark.files, refreshes: refreshes, clock: clock, logger: logger.of("queries")
            ) {
                state.hasScanned && state.session.with { $0.connection == .online }
            }
            let feed = EventFeed(vault.database, files: bookmark.files, clock: clock)
            let listeners = CommitListeners(
                state: state, policies: policies, engine: engine, queries: queries, feed: feed)
            vault.database.setCommitObserver(listeners.hear)
            let parts = Parts(
                bookmark: bookmark, clock: clock, logger: logger, vault: vault, connection: connection, engine: engine,
                policies: policies, list: list, loops: loops, queries: queries, feed: feed)
            return AccountHost(parts, process: process, credentials: credentials, state: state, plugins: plugins)
        } catch {
            await connection.shutdown()
            // The first error is the one to report.
            do { try vault.close() } catch { logger.debug("\(error)") }
            throw error
        }
    }

    /// The id of the account's vault.
    public nonisolated var vaultID: String { vault.id }

    /// Whether the vault's lock is in its place. Blocks.
    public nonisolated var hasLock: Bool { vault.hasLock }

    /// Has the vault's lock name the socket on which this process takes commands, where that is not so any more.
    public func announce() async { await Self.announce(vault, process.options) }

    private static func announce(_ vault: Vault, _ options: HostOptions) async {
        guard let controlSocket = options.controlSocket else { return }
        let socket = await controlSocket(vault.path)
        await runBlocking { vault.announce(controlSocket: socket) }
    }

    /// Forgets how far the loops had come, because the account leaves the config. No run may be in progress.
    func logOut() async throws(Failure) {
        // A task of its own, because the caller's is cancelled when an account is stopped.
        let loggingOut = Task { [loops] in try await loops.logOut() }
        do { try await loggingOut.value } catch { throw Failure(of: error) }
    }

    /// Ends the commands in progress, stops the plugins, closes the connections and releases the vault. No run may be in
    /// progress.
    /// - Throws: As ``Database/close()``; the vault is released in that case too.
    public func close() async throws(Failure) {
        await work.close()
        queries.end(because: .stopping)
        feed.end(because: .stopping)
        tell { $0.close() }
        defer { process.openFiles.close(bookmark.name) }
        let others = loops.instances.filter { instance in !plugins.contains { $0 === instance } }
        await process.stopPlugins(plugins + others)
        await connection.shutdown()
        try vault.close()
    }

    /// The progress of the downloads.
    public var progress: TransferProgress { TransferProgress(engine.progress) }

    /// What a running account is busy with; empty if it is idle.
    public var busyWith: [AccountOccupation] {
        let downloads = engine.progress
        let all: [(AccountOccupation, Bool)] = [
            (.listing, session.isPolling), (.policies, !policies.isIdle),
            // What waits for a person, or for a time, is no work.
            (.transfers, downloads.filesDone < downloads.filesTotal && !engine.isResting),
        ]
        return all.filter(\.1).map(\.0)
    }

    /// Whether the server can be reached.
    public var connectionState: ConnectionState { session.connection }

    /// Whether the server rejects the account's credentials.
    public var isRefused: Bool { session.isRefused }
}

import Connection
import Database
import ItemPolicies
import Logging
public import Model
import PluginHost
import Projects
import SyncEngine
import Threads
import Vault

/// The parts that the accounts of one process share: the settings and the opened plugins.
public actor HostProcess {
    /// The settings from the config.
    public nonisolated let settings: Settings
    /// The options besides the config.
    public nonisolated let options: HostOptions
    /// The room for the downloads of all accounts.
    nonisolated let rooms = DownloadRooms()
    /// Held by the task that watches the plugins.
    private nonisolated let watching = Turns()
    private nonisolated let checks = RestChecks()
    /// Held by the task that makes the checks.
    private nonisolated let checking = Turns()
    /// What accounts have freed that have come to rest.
    nonisolated let freedMemory = FreedMemory()
    /// The accounts that are starting.
    private nonisolated let starting: AccountPlaces
    /// The accounts that poll because their interval has passed.
    nonisolated let polling: AccountPlaces
    /// The accounts that do what a check at rest has found to do. They wait for no server, so that none of them is held up
    /// by the polls of others.
    nonisolated let resting: AccountPlaces
    /// The room for the open files of the accounts.
    nonisolated let openFiles = OpenFileRoom()
    /// The accounts that are told when the machine has slept.
    nonisolated let sleepers: SleepWatch
    /// The plugins, opened for the first account that needs them.
    private var loading: Task<PluginHost, Never>?
    /// The libraries that were tried before an account was open.
    private var early: EarlyProbeMemory?

    /// Creates a host. Nothing is opened yet.
    public init(settings: Settings, options: HostOptions) {
        self.settings = settings
        self.options = options
        starting = AccountPlaces(clock: options.clock)
        polling = AccountPlaces(clock: options.clock)
        resting = AccountPlaces(clock: options.clock)
        sleepers = SleepWatch(options.clock)
    }

    /// Opens an account's vault and starts its plugins. No request is sent to the server yet.
    /// - Parameters:
    ///   - bookmark: The account's bookmark.
    ///   - known: The id of the vault that must be there; nil takes any vault.
    ///   - credentials: Reads the account's secret.
    /// - Throws: `.vaultLocked` if another host has the vault open, `.localIO` if it is another vault, the folder of the
    ///   local copies does not exist, the database is damaged, or too few open files or threads are left, `.cannotCreate` if the vault or
    ///   the trace cannot be created, `.config` if the vault and the folder of copies lie in one another, and the errors
    ///   of `credentials`.
    public nonisolated func open(
        _ bookmark: Bookmark, known: String? = nil, credentials: @escaping CredentialsSource
    ) async throws(Failure) -> AccountHost {
        do throws(ThreadError) { try Connection.startThreads() } catch {
            throw Failure(
                .localIO, "No request can be sent: \(error)",
                hint: Self.limitsHint
                    ?? "Check the limits: `ulimit -n`, `ulimit -u`, and the unit's LimitNOFILE= and TasksMax=")
        }
        do {
            let place = try await starting.enter()
            try await openFiles.enter(bookmark.name)
            var isOpen = false
            defer { openFiles.leave(bookmark.name, isOpen: isOpen) }
            let host = try await AccountHost.open(
                bookmark, known: known, credentials: credentials, in: self, at: place)
            isOpen = true
            return host
        } catch {
            throw Failure(of: error)
        }
    }

    /// Returns reports on all known plugins, in the order in which their processors are called. Opens the libraries if
    /// that was not done yet.
    public func pluginReports() async -> [PluginReport] { await loaded(memory: nil).reports() }

    /// Returns the ids of the plugins in a library that the config does not name. The library is opened only in a child
    /// process.
    /// - Parameter path: The library's path.
    /// - Throws: `.failed`, with the reason why the library cannot be used.
    public nonisolated func plugins(inLibrary path: String) async throws(Failure) -> [PluginID] {
        let probe = ProbeCommand(arguments: options.probe)
        do { return try await runBlocking { try probe.plugins(inLibrary: path) } } catch { throw Failure(of: error) }
    }

    /// Returns reports on all known plugins before any vault is opened for work. The libraries that were tried before
    /// are read from an account's vault. The libraries that are tried now are remembered in the vaults that are opened
    /// later.
    /// - Parameter bookmark: The account whose vault is read.
    public func pluginReports(before bookmark: Bookmark) async -> [PluginReport] {
        var database: Database?
        do {
            database = try await runBlocking { try Vault.openDatabaseForReading(at: bookmark.vault) }
        } catch {
            options.logger.debug("The record of tested plugins cannot be opened: \(error)")
        }
        let memory = EarlyProbeMemory(database.map { DatabaseProbeMemory($0, isReadOnly: true) })
        if loading == nil { early = memory }
        let reports = await loaded(memory: memory).reports()
        do { try database?.close() } catch { options.logger.debug("\(error)") }
        return reports
    }

    /// Does nothing, in its turn among the calls of this actor. It returns only if the process goes on.
    public func takeTurn() {}

    /// Ends the plugins' threads. No account may be open.
    /// - Throws: `.localIO` if the trace could not be written to its end.
    public func close() async throws(Failure) {
        await loading?.value.shutDown()
        loading = nil
        try options.trace?.check()
    }

    /// Starts the plugins for an account.
    /// - Parameters:
    ///   - bookmark: The account's bookmark.
    ///   - database: The account's database.
    ///   - isReadOnly: Whether the database is open for reading only.
    ///   - clock: The account's clock, as far as it is believed.
    ///   - logger: The account's logger.
    ///   - noted: Called after a plugin failed or broke the rules. It must return at once.
    ///   - hung: Called when a call into a plugin was found to hang. It must return at once.
    /// - Returns: The started instances.
    func startPlugins(
        for bookmark: Bookmark, database: Database, isReadOnly: Bool = false, clock: HostClock, logger: Logger,
        noted: @escaping @Sendable () -> Void = {}, hung: @escaping @Sendable () -> Void = {}
    ) async throws -> [PluginInstance] {
        let trace = try options.trace?.open()
        let memory = DatabaseProbeMemory(database, isReadOnly: isReadOnly)
        let host = await loaded(memory: memory)
        try await early?.write(to: memory)
        let calls = PluginCalls(vault: bookmark.vault, clock: clock)
        let held = try await calls.held(in: database, isReadOnly: isReadOnly, logger: logger)
        let projects = AccountProjects(
            base: bookmark.vault + "/projects",
            // The projects may be held for longer than the account is open.
            checkPlace: { [path = database.path] () throws(Failure) in try Database.checkPlace(of: path) },
            isReadOnly: isReadOnly,
            quota: { [quotas = settings.projectQuotas] in quotas[$0] ?? PluginSettings.defaultProjectQuota },
            reserved: [PolicyHistory.bundleID: "the history of policies"], sourceRefusal: ProjectSources.refusal,
            clock: clock)
        let environment = AccountEnvironment(
            name: bookmark.name, logger: logger.of("plugins"), clock: clock, trace: trace, feeds: options.traceFeeds,
            calls: isReadOnly ? nil : await calls.board(for: host, logger: logger), held: held,
            overrides: bookmark.plugins, projects: projects,
            uploads: AccountUploads(projects: projects, bookmark: bookmark, isReadOnly: isReadOnly), noted: noted,
            hung: hung)
        return await host.start(environment)
    }

    /// The hint for a lack of descriptors or threads if a plugin has made it; nil otherwise.
    static var limitsHint: String? {
        PluginHost.hasLostLimits
            ? "A plugin has lowered the limits of the host, as the log says: disable it and restart the host" : nil
    }

    func stopPlugins(_ instances: [PluginInstance]) async { await loading?.value.stop(instances) }

    /// Has the reports' marks of the opened libraries tell a file with the same bytes from other ones.
    func digestLibraries() async { await loading?.value.digestLibraries() }

    /// Takes back that plugins are refused for an account, which leaves the config.
    func forgetPlugins(of account: String) async { await loading?.value.forget(account: account) }

    /// Returns a failure for each call into a plugin that did not return and was given up.
    public func givenUpCalls() async -> [Failure] {
        guard let host = await loading?.value else { return [] }
        return await host.givenUpCalls().map(Failure.init(givenUp:))
    }

    func startPluginAgain(_ stopped: PluginInstance) async -> PluginInstance? {
        await loading?.value.startAgain(stopped)
    }

    /// Reports calls into plugins that do not return, until the task is cancelled. However many tasks call the function,
    /// one of them at a time does the work, so that the process wakes up once a second.
    /// - Parameter slept: Called with the time for which the machine has slept, after it did. It must return at once.
    func watchPlugins(slept: @escaping @Sendable (Duration) -> Void = { _ in }) async {
        guard let plugins = await loading?.value else { return }
        let number = sleepers.add(slept)
        defer { sleepers.remove(number) }
        do { try await watching.take() } catch { return }
        defer { watching.release() }
        await plugins.watch { [sleepers] in sleepers.check() }
    }

    /// The interval of the checks of accounts at rest.
    static let restCheck = Duration.seconds(30)

    /// Has an account woken when it has something to do that no event tells of, until the task is cancelled. As of
    /// ``watchPlugins(slept:)``, one task at a time does the work for all.
    /// - Parameters:
    ///   - isDue: Tells whether the account has something to do. Called on a thread that may block.
    ///   - signal: The signal that wakes the account.
    nonisolated func makeChecks(_ isDue: @escaping @Sendable () -> Bool, waking signal: Signal) async {
        let number = checks.add(isDue, waking: signal)
        defer { checks.remove(number) }
        do {
            try await checking.take()
            defer { checking.release() }
            while true {
                try await options.clock.sleep(Self.restCheck)
                runBlockingLater { [checks] in checks.make() }
            }
        } catch {}
    }

    private func loaded(memory: (any ProbeMemory)?) async -> PluginHost {
        if let loading { return await loading.value }
        let host = PluginHost(
            builtIn: options.builtInPlugins, system: options.systemPlugins, settings: settings,
            probe: ProbeCommand(arguments: options.probe), memory: memory, clock: options.clock,
            logger: options.logger.of("plugins"))
        let task = Task(executorPreference: Workplace.single) {
            await host.load()
            return host
        }
        loading = task
        return await task.value
    }
}

/// The services that the host offers to plugins.
public enum PluginServices {
    /// The names of the services, such as `larder.kv/1`, sorted.
    public static let names = HostServices.names
}

/// The work of the child process that tries a library: it opens the library, has it describe itself, and ends.
public enum PluginTrial {
    /// Tries a library, and ends the process.
    public static func main(library: String) -> Never { PluginProbe.main(library: library) }
}

extension Failure {
    /// Converts an error of any kind to the failure that a person sees.
    init(of error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as ConnectionError: self = error.failure
        case let error as ConditionError: self = error.failure(in: "a condition")
        case is CancellationError: self = Failure(.failed, "The run was cancelled before it was complete")
        default: self = Failure(.internal, "\(error)")
        }
    }
}

extension Settings {
    /// The bytes that the projects of plugins may take, for the plugins that the config names.
    fileprivate var projectQuotas: [PluginID: Int64] {
        Dictionary(plugins.map { ($0.id, $0.projectQuota) }) { first, _ in first }
    }
}

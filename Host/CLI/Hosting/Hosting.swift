import Core
import Glibc
import Logging
import Model
import Synchronization
import Threads

/// What runs the accounts of `larder run` until they are done or a signal ends them.
///
/// It owns the accounts: each runs in a task of its own, from its start until it has ended. It ends when no
/// account runs any more and no reload is under way.
final class Hosting: Sendable {
    private struct State {
        /// The accounts by their names.
        var accounts: [String: HostedAccount] = [:]
        /// The accounts that are no longer in the config, or not in this way, and have not ended.
        var leaving: [HostedAccount] = []
        /// The settings and plugins for accounts that are started now.
        var generation: Generation
        /// The number of accounts that have not ended, and of reloads under way.
        var running = 0
        var isStopping = false
        var shutdownTimeout: Duration
        var failures: [Failure] = []
        var waitingForReload: [ReloadAnswer] = []
        var reloads = ServiceState.Reloads()
        /// The key paths of the settings that the last reload left as they were, since they need a restart.
        var needRestart: [String] = []
    }

    /// An account that was started and does not run yet.
    private struct Start {
        var account: HostedAccount
        /// The account of the same name before a reload.
        var replaced: HostedAccount?
        /// The accounts that must have ended before.
        var predecessors: [HostedAccount]
    }

    let global: GlobalOptions
    let once: Bool
    let timeout: Duration?
    let console: Console
    /// The options of the host processes of all generations.
    let options: HostOptions
    /// Sent when a reload was requested.
    let reloadRequests = Signal()
    private let log: LogControl
    private let manager: ServiceManager?
    private let hangups: Signals?
    private let state: Mutex<State>
    private let (started, starting) = AsyncStream.makeStream(of: Start.self)

    /// - Parameters:
    ///   - global: the options with which the config is read anew.
    ///   - hangups: requests reloads.
    ///   - log: the control of the log of the generation's process.
    ///   - manager: the service manager that is told how the host is doing.
    init(
        _ global: GlobalOptions, _ config: Config, _ accounts: [AccountConfig], _ generation: Generation,
        once: Bool, timeout: Duration?, hangups: Signals?, log: LogControl, console: Console,
        manager: ServiceManager? = .own
    ) {
        var global = global
        // A reload reads the same file.
        global.configFile = config.file
        self.global = global
        self.once = once
        self.timeout = timeout
        self.hangups = hangups
        self.log = log
        self.console = console
        self.manager = manager
        options = generation.process.options
        state = Mutex(State(generation: generation, shutdownTimeout: config.settings.shutdownTimeout))
        state.withLock { state in
            for account in accounts { start(HostedAccount(account, in: generation), in: &state) }
        }
    }

    /// Returns an account that is at work; nil if it is not at work now, or if there is no such account. May be called
    /// on any thread.
    /// - Parameter account: the account's name.
    func host(of account: String) -> AccountHost? { phases[account]?.host }

    /// Waits until an account was opened, waits because it could not be opened, or has ended. Returns at once if there is
    /// no such account.
    /// - Throws: `CancellationError` if the task is cancelled.
    func untilOpened(_ account: String) async throws(CancellationError) {
        try await state.withLock { $0.accounts[account] }?.untilOpened()
    }

    /// Returns the digest of an account's part of the config that the host has read; nil if there is no such account.
    /// May be called on any thread.
    func digest(of account: String) -> String? { state.withLock { $0.accounts[account] }?.config.digest }

    /// What has the host know an account as the config has it now: a reload, or a restart where the last reload left the
    /// account as it was. May be called on any thread.
    func hint(for account: String) -> String {
        let paths = ["accounts.\(account)", "accounts.\(account).vault", "accounts.\(account).files"]
        return state.withLock { $0.needRestart.contains(where: paths.contains) }
            ? "Restart the host: the folders of accounts that run cannot be changed"
            : "`larder reload` has the host read it anew"
    }

    /// Returns reports on the plugins for accounts that are started now.
    func pluginReports() async -> [PluginReport] {
        await state.withLock { $0.generation }.process.pluginReports()
    }

    /// What the host does with each account, by the accounts' names. May be read on any thread.
    var phases: [String: AccountPhase] { state.withLock(\.accounts).mapValues(\.phase) }

    /// Runs the accounts until they are done, or SIGTERM or SIGINT ends them.
    /// - Returns: All failures. A stop by a signal is not a failure, except for a run with `--once` that was not done.
    func runUntilSignalled() async -> [Failure] {
        do throws(Failure) {
            let ends = try Signals(heeding: SIGTERM, SIGINT)
            let reporter = manager.map(reporter)
            let stopping = Task {
                for await _ in ends { return stop(reporter) }
            }
            await run(reporter)
            stopping.cancel()
        } catch {
            add(error)
        }
        return state.withLock { state in
            state.failures + state.accounts.sorted { $0.key < $1.key }.compactMap(\.value.failure)
        }
    }

    private func run(_ reporter: ServiceReporter?) async {
        if !once { console.dropUnreadLines() }
        let progress = Task { await showProgress() }
        defer { progress.cancel() }
        let reports = Task { await reporter?.run() }
        let reloads = Task { await serveReloads(reporter) }
        let heeding = Task {
            guard let hangups else { return }
            for await _ in hangups { request(nil) }
        }
        defer { heeding.cancel() }
        await withDiscardingTaskGroup { group in
            for await start in started {
                group.addTask { [self] in
                    for other in start.predecessors { await other.untilEnded() }
                    if let replaced = start.replaced { start.account.replace(replaced) }
                    await work(start.account)
                    await ended(start.account)
                }
            }
        }
        // A host that ends for another reason than a signal stops too. From now on no reload is requested.
        state.withLock { $0.isStopping = true }
        reloads.cancel()
        await reloads.value
        for answer in takeRequests() { answer.resume(returning: .failure(.stopping)) }
        reports.cancel()
        await reports.value
    }

    /// Has all accounts stop, for a signal.
    private func stop(_ reporter: ServiceReporter?) {
        let (accounts, limit) = state.withLock { state in
            state.isStopping = true
            return (state.leaving + state.accounts.values, state.shutdownTimeout)
        }
        for account in accounts { account.stop() }
        reporter?.check()
        // The longest duration of a stop. After it the process ends without waiting any longer, and the next start
        // completes the work that was left. The task is detached because it ends the process and must outlive this
        // function.
        Task.detached { [console] in
            try await Task.sleep(for: limit)
            console.note(
                "larder: shutting down took longer than \(ConfigScalar.write(limit)); the next start finishes "
                    + "the work")
            _exit(Failure.Kind.failed.rawValue)
        }
    }

    /// Ends the plugins' threads. The accounts must have ended.
    /// - Returns: the plugins' calls that were given up, and the errors of closing.
    func close() async -> [Failure] {
        let generation = state.withLock { $0.generation }
        generation.retire()
        return await generation.closeIfUnused()
    }

    private func start(
        _ account: HostedAccount, replacing replaced: HostedAccount? = nil, after others: [HostedAccount] = [],
        in state: inout State
    ) {
        state.accounts[account.name] = account
        state.running += 1
        account.generation.enter()
        starting.yield(Start(account: account, replaced: replaced, predecessors: others))
    }

    private func ended(_ account: HostedAccount) async {
        let isReplaced = state.withLock { state in
            let count = state.leaving.count
            state.leaving.removeAll { $0 === account }
            return state.leaving.count < count
        }
        // The host's end does not report the failure of such an account.
        if isReplaced, let failure = account.failure {
            options.logger.error(
                "The account was closed with an error: \(failure.message)", metadata: ["account": "\(account.name)"])
        }
        account.generation.leave()
        for failure in await account.generation.closeIfUnused() { add(failure) }
        finishOne()
    }

    private func finishOne() {
        state.withLock { state in
            state.running -= 1
            if state.running == 0 { starting.finish() }
        }
    }

    // MARK: Reloads. See `reload()`.

    /// Notes a request for a reload.
    /// - Parameter answer: the request's continuation; nil if nobody waits for the reload.
    /// - Returns: false if the host stops.
    @discardableResult func request(_ answer: ReloadAnswer?) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isStopping else { return false }
            if let answer { state.waitingForReload.append(answer) }
            return true
        }
        if isTaken { reloadRequests.send() }
        return isTaken
    }

    func takeRequests() -> [ReloadAnswer] {
        state.withLock { state in
            defer { state.waitingForReload = [] }
            return state.waitingForReload
        }
    }

    /// Keeps the host from ending while a reload is under way.
    /// - Returns: false if the host stops.
    func beginReload() -> Bool {
        let began = options.clock.awake()
        return state.withLock { state in
            guard !state.isStopping, state.running > 0 else { return false }
            state.running += 1
            state.reloads.begin(at: began)
            return true
        }
    }

    func endReload() {
        state.withLock { $0.reloads.end() }
        finishOne()
    }

    /// What a commit has set going.
    struct Commit {
        var plan: ReloadPlan
        /// The accounts that were started, or are still being opened.
        var opening: [HostedAccount]
        /// The generation that no more accounts are started in.
        var retired: Generation
    }

    /// Has each account do what a verified config means for it. Returns at once.
    /// - Returns: nil if the host stops; nothing was done then.
    func commit(_ config: Config, _ accounts: [AccountConfig], _ verified: Generation) -> Commit? {
        let (commit, stopped) = state.withLock { state -> (Commit?, [HostedAccount]) in
            guard !state.isStopping else { return (nil, []) }
            let isNew = !verified.isLike(state.generation)
            let running = state.accounts.filter { !$0.value.phase.hasEnded }
            let plan = ReloadPlan(running.values.map(\.config), accounts, isNewGeneration: isNew)
            let retired = isNew ? state.generation : verified
            if isNew { state.generation = verified }
            retired.retire()
            state.shutdownTimeout = config.settings.shutdownTimeout
            state.needRestart = plan.needRestart
            config.log.apply(to: log, console)

            let before = state.accounts
            state.accounts = [:]
            let stopped =
                plan.ends.compactMap { running[$0] }
                + plan.steps.filter { $0.change == .restart }.compactMap { running[$0.config.bookmark.name] }
            state.leaving += stopped
            var opening: [HostedAccount] = []
            for step in plan.steps {
                let name = step.config.bookmark.name
                if step.change == .none, let account = before[name] {
                    account.config = step.config
                    state.accounts[name] = account
                    if account.phase.isOpening { opening.append(account) }
                    continue
                }
                let account = HostedAccount(step.config, in: state.generation)
                let others = state.leaving.filter { $0.name == name || $0.config.sharesFolders(with: step.config) }
                start(account, replacing: before[name], after: others, in: &state)
                opening.append(account)
            }
            return (Commit(plan: plan, opening: opening, retired: retired), stopped)
        }
        if commit != nil { options.setBandwidth(config.settings.limits.bandwidth) }
        for account in stopped { account.stop(leaves: commit?.plan.ends.contains(account.name) ?? false) }
        return commit
    }

    private func work(_ account: HostedAccount) async {
        do throws(Failure) {
            if once { try await workOnce(account) } else { try await keep(account) }
            account.end(nil)
        } catch {
            account.end(error)
        }
    }

    private func keep(_ account: HostedAccount) async throws(Failure) {
        let result = await account.untilStopped { [self] () async -> Result<Void, Failure> in
            do throws(Failure) {
                try await account.generation.process.keep(
                    account.config.bookmark, isAlone: isAlone, known: account.vaultID,
                    leaves: { account.leaves },
                    credentials: { () async throws(Failure) in try await account.config.readSecret() },
                    atWork: { account.enter($0.map(AccountPhase.atWork) ?? .closing) },
                    waits: { account.enter(.waiting($0)) })
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Whether the host has only one account.
    private var isAlone: Bool { state.withLock { $0.accounts.count == 1 } }

    private func reporter(to manager: ServiceManager) -> ServiceReporter {
        ServiceReporter(
            manager, clock: options.clock, logger: options.logger,
            state: { [self] in
                var told = phases.state(isStopping: state.withLock { $0.isStopping })
                told.reloads = state.withLock { $0.reloads }
                return told
            },
            proof: { [self] in
                // The main thread, the process's actor and the threads that tasks share go on. No plugin's thread is
                // asked: a call that does not return is reported by the plugins' own watch, and the others go on.
                await MainActor.run {}
                await state.withLock { $0.generation }.process.takeTurn()
            })
    }

    func add(_ failure: Failure) { state.withLock { $0.failures.append(failure) } }

    /// Shows a line of progress on a terminal, and renews it twice a second.
    private func showProgress() async {
        guard console.errorsAreTerminal else { return }
        var progress = Progress()
        let clock = ContinuousClock()
        let start = clock.now
        while !Task.isCancelled {
            var counts = Progress.Counts(files: 0, allFiles: 0, bytes: 0, allBytes: 0)
            for host in phases.values.compactMap(\.host) {
                let transfer = host.progress
                counts.files += Int64(transfer.filesDone)
                counts.allFiles += Int64(transfer.filesTotal)
                counts.bytes = counts.bytes.adding(transfer.bytesDone)
                counts.allBytes = counts.allBytes.adding(transfer.bytesTotal)
            }
            progress.add(counts, at: start.duration(to: clock.now))
            console.showProgress(progress.line(width: console.width))
            do { try await clock.sleep(for: .milliseconds(500)) } catch { break }
        }
        console.showProgress(nil)
    }
}

import Core
import Glibc
import Logging
import Model
import ServiceLifecycle
import Synchronization
import UnixSignals

/// A service that runs the accounts of `larder run` until they are done or a signal ends them.
///
/// It owns the accounts: each runs in a task of its own, from ``start(_:)`` until it has ended. The service ends when no
/// account runs any more.
final class Hosting: Service {
    private struct State {
        /// The accounts by their names.
        var accounts: [String: HostedAccount] = [:]
        /// The number of accounts that have not ended.
        var running = 0
        var isStopping = false
        var failures: [Failure] = []
    }

    let once: Bool
    let timeout: Duration?
    let isJSON: Bool
    let console: Console
    private let process: HostProcess
    private let manager: ServiceManager?
    private let state = Mutex(State())
    /// The accounts that were started and do not run yet.
    private let (started, starting) = AsyncStream.makeStream(of: HostedAccount.self)

    /// - Parameter manager: the service manager that is told how the host is doing.
    init(
        process: HostProcess, accounts: [AccountConfig], once: Bool, timeout: Duration?, isJSON: Bool, console: Console,
        manager: ServiceManager? = .own
    ) {
        self.process = process
        self.once = once
        self.timeout = timeout
        self.isJSON = isJSON
        self.console = console
        self.manager = manager
        for account in accounts { start(HostedAccount(account, in: process)) }
    }

    /// Returns an account that is at work; nil if it is not at work now, or if there is no such account. May be called
    /// on any thread.
    /// - Parameter account: the account's name.
    func host(of account: String) -> AccountHost? { phases[account]?.host }

    /// What the host does with each account, by the accounts' names. May be read on any thread.
    var phases: [String: AccountPhase] { state.withLock(\.accounts).mapValues(\.phase) }

    /// Runs the accounts.
    /// - Returns: All failures. A stop by a signal is not a failure, except for a run with `--once` that was not done.
    func runUntilSignalled(log: LogConfig) async -> [Failure] {
        var quiet = log
        quiet.level = max(log.level, .error)
        let handler = LineLogHandler(quiet, console: console)
        var quietLogger = Logger(label: "larder") { _ in handler }
        quietLogger[metadataKey: "component"] = "host"
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: quietLogger))
        do {
            try await group.run()
        } catch {
            add(error as? Failure ?? Failure(.internal, "\(error)"))
        }
        return state.withLock { state in
            state.failures + state.accounts.sorted { $0.key < $1.key }.compactMap(\.value.failure)
        }
    }

    func run() async throws {
        if !once { console.dropUnreadLines() }
        let progress = Task { await showProgress() }
        defer { progress.cancel() }
        let hangups = once ? nil : Task { await heedHangups() }
        defer { hangups?.cancel() }
        let reporter = manager.map(reporter)
        let reports = Task { await reporter?.run() }
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await account in started {
                    group.addTask { [self] in
                        await work(account)
                        ended()
                    }
                }
            }
        } onGracefulShutdown: { [self, console] in
            let accounts = state.withLock { state in
                state.isStopping = true
                return state.accounts.values
            }
            for account in accounts { account.stop() }
            reporter?.check()
            // The longest duration of a stop. After it the process ends without waiting any longer, and the next start
            // completes the work that was left. The task is detached because it ends the process and must outlive this
            // function.
            let limit = process.settings.shutdownTimeout
            Task.detached {
                try await Task.sleep(for: limit)
                console.note(
                    "larder: shutting down took longer than \(ConfigScalar.write(limit)); the next start finishes "
                        + "the work")
                _exit(Failure.Kind.failed.rawValue)
            }
        }
        // A host that ends for another reason than a signal stops too.
        state.withLock { $0.isStopping = true }
        reports.cancel()
        await reports.value
    }

    /// Starts an account, unless the host is stopping.
    private func start(_ account: HostedAccount) {
        state.withLock { state in
            guard !state.isStopping else { return }
            state.accounts[account.name] = account
            state.running += 1
            starting.yield(account)
        }
    }

    private func ended() {
        state.withLock { state in
            state.running -= 1
            if state.running == 0 { starting.finish() }
        }
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
                try await account.process.keep(
                    account.config.bookmark, isAlone: isAlone,
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
            manager, clock: process.options.clock, logger: process.options.logger,
            state: { [self] in phases.state(isStopping: state.withLock { $0.isStopping }) },
            proof: { [process] in
                // The main thread, the process's actor and the threads that tasks share go on. No plugin's thread is
                // asked: a call that does not return is reported by the plugins' own watch, and the others go on.
                await MainActor.run {}
                await process.takeTurn()
            })
    }

    func add(_ failure: Failure) { state.withLock { $0.failures.append(failure) } }

    /// Logs a warning at each SIGHUP. Without a handler the signal would end the process; reading the config anew on
    /// SIGHUP is not implemented.
    private func heedHangups() async {
        for await _ in await UnixSignalsSequence(trapping: .sighup) {
            process.options.logger.warning(
                "SIGHUP is ignored: larder reads its settings only when it starts; restart it to apply changes")
        }
    }

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

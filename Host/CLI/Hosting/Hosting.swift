import Core
import Glibc
import Logging
import Model
import ServiceLifecycle
import Synchronization
import UnixSignals

/// A service that runs the accounts of `larder run` until they are done or a signal ends them.
final class Hosting: Service {
    private let process: HostProcess
    private let accounts: [AccountConfig]
    private let once: Bool
    private let timeout: Duration?
    private let isJSON: Bool
    private let console: Console
    private let manager: ServiceManager?
    private let failures = Mutex<[Failure]>([])
    private let phases: Mutex<[String: AccountPhase]>
    private let isStopping = Atomic(false)

    /// - Parameter manager: the service manager that is told how the host is doing.
    init(
        process: HostProcess, accounts: [AccountConfig], once: Bool, timeout: Duration?, isJSON: Bool, console: Console,
        manager: ServiceManager? = .own
    ) {
        self.process = process
        self.accounts = accounts
        self.once = once
        self.timeout = timeout
        self.isJSON = isJSON
        self.console = console
        self.manager = manager
        phases = Mutex(Dictionary(accounts.map { ($0.bookmark.name, .opening) }) { first, _ in first })
    }

    /// Runs the accounts.
    /// - Returns: all failures. A stop by a signal is not a failure, except for a run with `--once` that was not done.
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
        return failures.withLock { $0 }
    }

    func run() async throws {
        let progress = Task { await showProgress() }
        defer { progress.cancel() }
        let hangups = once ? nil : Task { await heedHangups() }
        defer { hangups?.cancel() }
        let reporter = manager.map(reporter)
        let reports = Task { await reporter?.run() }
        await withGracefulShutdownHandler {
            await withTaskGroup { group in
                for account in accounts {
                    group.addTask { [self] in
                        do throws(Failure) {
                            try await work(account)
                        } catch {
                            add(error)
                        }
                        enter(.ended, account.bookmark.name)
                    }
                }
            }
        } onGracefulShutdown: { [self, console] in
            isStopping.store(true, ordering: .relaxed)
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
        isStopping.store(true, ordering: .relaxed)
        reports.cancel()
        await reports.value
    }

    private func reporter(to manager: ServiceManager) -> ServiceReporter {
        ServiceReporter(
            manager, clock: process.options.clock, logger: process.options.logger,
            state: { [self] in
                phases.withLock { $0 }.state(isStopping: isStopping.load(ordering: .relaxed))
            },
            proof: { [process] in
                // The main thread, the process's actor and the threads that tasks share go on. No plugin's thread is
                // asked: a call that does not return is reported by the plugins' own watch, and the others go on.
                await MainActor.run {}
                await process.takeTurn()
            })
    }

    private func enter(_ phase: AccountPhase, _ account: String) { phases.withLock { $0[account] = phase } }

    private func work(_ account: AccountConfig) async throws(Failure) {
        let name = account.bookmark.name
        let credentials: CredentialsSource = { () async throws(Failure) in try await account.readSecret() }
        guard once else {
            let result = await cancelOnStop { [self] () async -> Result<Void, Failure> in
                do throws(Failure) {
                    try await process.keep(
                        account.bookmark, isAlone: accounts.count == 1, credentials: credentials,
                        atWork: { [self] host in enter(host.map(AccountPhase.atWork) ?? .closing, name) },
                        waits: { [self] in enter(.waiting($0), name) })
                    return .success(())
                } catch {
                    return .failure(error)
                }
            }
            return try result.get()
        }
        let clock = ContinuousClock()
        let began = clock.now
        let host = try await open(account.bookmark, credentials)
        enter(.atWork(host), name)
        let left = timeout.map { max($0 - began.duration(to: clock.now), .zero) }
        let outcome = await cancelOnStop { await host.runOnce(timeout: left) }
        report(outcome, of: name)
        enter(.closing, name)
        try await host.close()
    }

    /// Opens an account for `run --once` within the time limit of the run, because a plugin may take long to start.
    private func open(
        _ bookmark: Bookmark, _ credentials: @escaping CredentialsSource
    ) async throws(Failure) -> AccountHost {
        let (process, timeout) = (process, timeout)
        let result = await cancelOnStop { () async -> Result<AccountHost, Failure> in
            let opening = Task { () async -> Result<AccountHost, Failure> in
                do throws(Failure) {
                    return .success(try await process.open(bookmark, credentials: credentials))
                } catch {
                    return .failure(error)
                }
            }
            let limit = Task {
                guard let timeout else { return }
                try await Task.sleep(for: timeout)
                opening.cancel()
            }
            defer { limit.cancel() }
            return await withTaskCancellationHandler {
                await opening.value
            } onCancel: {
                opening.cancel()
            }
        }
        return try result.get()
    }

    private func cancelOnStop<T: Sendable>(_ body: @escaping @Sendable () async -> T) async -> T {
        let task = Task { await body() }
        return await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await task.value
            } onGracefulShutdown: {
                task.cancel()
            }
        } onCancel: {
            task.cancel()
        }
    }

    private func report(_ outcome: RunOutcome, of account: String) {
        for failure in outcome.failures { add(failure) }
        for issue in outcome.issues { add(Failure(issue)) }
        if outcome.leftCount > outcome.left.count {
            let more = outcome.leftCount - outcome.left.count
            add(Failure(.failed, "\(account): \(more) more files are left", hint: "`larder sync list` lists all"))
        }
        if isJSON {
            console.print(JSONValue(outcome, account: account))
        } else {
            console.print("\(account): \(outcome.summary)")
        }
    }

    private func add(_ failure: Failure) { failures.withLock { $0.append(failure) } }

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
            for host in phases.withLock({ $0.values.compactMap(\.host) }) {
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

extension RunOutcome {
    /// A text that says what was done and how much is left.
    var summary: String {
        var parts: [String] = []
        if files > 0 { parts += ["\(Text.count(files, "file")) fetched", Text.bytes(bytes)] }
        if moves > 0 { parts.append("\(moves) moved") }
        if removed > 0 { parts.append("\(Text.count(removed, "copy", "copies")) removed") }
        if calendarObjects > 0 { parts.append("\(Text.count(calendarObjects, "calendar object")) brought up to date") }
        if parts.isEmpty { parts = ["nothing to fetch"] }
        if leftCount > 0 { parts.append("\(Text.count(leftCount, "file")) left") }
        return parts.joined(separator: ", ")
    }
}

extension JSONValue {
    init(_ outcome: RunOutcome, account: String) {
        self = .object([
            "account": .string(account),
            "files": .integer(outcome.files),
            "bytes": .integer(outcome.bytes),
            "moves": .integer(outcome.moves),
            "removed": .integer(outcome.removed),
            "calendarObjects": .integer(outcome.calendarObjects),
            "left": .array(outcome.left.map { .object(["path": .string($0.path.text), "why": .string($0.why)]) }),
            "leftCount": .integer(outcome.leftCount),
            "issues": .array(outcome.issues.map { JSONValue($0) }),
        ])
    }
}

extension Failure {
    /// Makes the failure by which a run names an issue that waits for a person.
    init(_ issue: Issue) {
        let choices = issue.choices.map(\.id).joined(separator: ", ")
        self.init(
            issue.failure.ofOneItem, "issue \(issue.id): \(issue.message)",
            hint: choices.isEmpty
                ? nil : "run `larder issue resolve \(issue.id) CHOICE`, where CHOICE is one of: \(choices)")
    }
}

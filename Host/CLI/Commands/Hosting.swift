import Core
import Glibc
import Logging
import Model
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The accounts of `larder run` at work, until they are done or a signal ends them.
final class Hosting: Service {
    /// How long a stop may take before the process ends without waiting any longer; the next start completes what it left.
    static let stopLimit: Duration = .seconds(30)

    private let process: HostProcess
    private let accounts: [AccountConfig]
    private let once: Bool
    private let timeout: Duration?
    private let isJSON: Bool
    private let console: Console
    private let failures = Mutex<[Failure]>([])
    private let hosts = Mutex<[AccountHost]>([])

    init(
        process: HostProcess, accounts: [AccountConfig], once: Bool, timeout: Duration?, isJSON: Bool, console: Console
    ) {
        self.process = process
        self.accounts = accounts
        self.once = once
        self.timeout = timeout
        self.isJSON = isJSON
        self.console = console
    }

    /// - Returns: everything that went wrong. A stop by a signal is nothing wrong, unless `--once` was not done.
    func runUntilSignalled(log: LogConfig) async -> [Failure] {
        var quiet = log
        quiet.level = max(log.level, .error)
        let handler = LineLogHandler(quiet, console: console)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: self, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "larder") { _ in handler }))
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
        await withGracefulShutdownHandler {
            await withTaskGroup { group in
                for account in accounts {
                    group.addTask { [self] in
                        do throws(Failure) {
                            try await work(account)
                        } catch {
                            add(error)
                        }
                    }
                }
            }
        } onGracefulShutdown: { [console] in
            // The process's own end: it outlives this function by design.
            Task.detached {
                try await Task.sleep(for: Self.stopLimit)
                console.note(
                    "larder: the stop took longer than \(Text.rough(Self.stopLimit)); the next start completes it")
                _exit(0)
            }
        }
    }

    private func work(_ account: AccountConfig) async throws(Failure) {
        let host = try await process.open(account.bookmark) { () async throws(Failure) in
            try await account.credentials()
        }
        hosts.withLock { $0.append(host) }
        do throws(Failure) {
            if once {
                let outcome = await cancelOnStop { [timeout] in await host.runOnce(timeout: timeout) }
                report(outcome, of: account.bookmark.name)
            } else {
                try await runUntilStopped(host)
            }
        } catch {
            hosts.withLock { $0.removeAll { $0 === host } }
            try await host.close()
            throw error
        }
        hosts.withLock { $0.removeAll { $0 === host } }
        try await host.close()
    }

    private func runUntilStopped(_ host: AccountHost) async throws(Failure) {
        let result = await cancelOnStop { () async -> Result<Void, Failure> in
            do throws(Failure) {
                try await host.run()
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
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
            add(Failure(.failed, "\(account): \(more) more are left", hint: "`larder sync list` names all"))
        }
        if isJSON {
            console.print(JSON(outcome, account: account))
        } else {
            let left = outcome.leftCount > 0 ? ", \(Text.count(outcome.leftCount, "file")) left" : ""
            console.print(
                "\(account): \(Text.count(outcome.files, "file")) fetched, \(Text.bytes(outcome.bytes))\(left)")
        }
    }

    private func add(_ failure: Failure) { failures.withLock { $0.append(failure) } }

    /// Keeps a line of progress on a terminal, twice a second.
    private func showProgress() async {
        guard console.errorsAreTerminal else { return }
        var progress = Progress()
        let clock = ContinuousClock()
        let start = clock.now
        while !Task.isCancelled {
            var counts = Progress.Counts(files: 0, allFiles: 0, bytes: 0, allBytes: 0)
            for host in hosts.withLock({ $0 }) {
                let transfer = host.progress
                counts.files += Int64(transfer.filesDone)
                counts.allFiles += Int64(transfer.filesTotal)
                counts.bytes += transfer.bytesDone
                counts.allBytes += transfer.bytesTotal
            }
            progress.add(counts, at: start.duration(to: clock.now))
            console.showProgress(progress.line(width: console.width))
            do { try await clock.sleep(for: .milliseconds(500)) } catch { break }
        }
        console.showProgress(nil)
    }
}

extension Failure {
    /// An issue that waits for a person, as a run names it.
    init(_ issue: Issue) {
        let choices = issue.choices.map(\.id).joined(separator: ", ")
        self.init(
            issue.failure.ofOneItem, "issue \(issue.id): \(issue.message)",
            hint: choices.isEmpty ? nil : "larder issue resolve \(issue.id) CHOICE, where CHOICE is one of: \(choices)")
    }
}

extension JSON {
    init(_ outcome: RunOutcome, account: String) {
        self = .object([
            "account": .text(account),
            "files": .int(outcome.files),
            "bytes": .int(outcome.bytes),
            "left": .list(outcome.left.map { .object(["path": .text($0.path.text), "why": .text($0.why)]) }),
            "leftCount": .int(outcome.leftCount),
            "issues": .list(outcome.issues.map { JSON($0) }),
        ])
    }
}

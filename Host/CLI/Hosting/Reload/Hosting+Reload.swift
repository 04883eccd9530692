import Core
import Logging
import Model
import Threads

/// A reload: everyone verifies the changed config, then everyone commits to it.
extension Hosting {
    typealias ReloadAnswer = CheckedContinuation<Result<ReloadReport, Failure>, Never>

    /// Reads the config anew and applies what changed. A config with a mistake changes nothing.
    ///
    /// One reload is under way at a time. Requests that come meanwhile share the next one. Cancelling the task does not
    /// end the wait. May be called on any thread.
    /// - Returns: what was done. Accounts that were started, or were still being opened, have been opened, or wait, or
    ///   could not be opened within `shutdown-timeout`.
    /// - Throws: `config` with all problems of the config, with their places; `usage` if the account that `--account`
    ///   names is gone; `failed` if the host stops.
    func reload() async throws(Failure) -> ReloadReport {
        let result = await withCheckedContinuation { answer in
            if !request(answer) { answer.resume(returning: .failure(.stopping)) }
        }
        return try result.get()
    }

    /// Carries out reloads, until the task is cancelled.
    func serveReloads(_ reporter: ServiceReporter?) async {
        while true {
            await reloadRequests.wait()
            if Task.isCancelled { return }
            let answers = takeRequests()
            let result = await carryOutReload(reporter)
            for answer in answers { answer.resume(returning: result) }
        }
    }

    private func carryOutReload(_ reporter: ServiceReporter?) async -> Result<ReloadReport, Failure> {
        guard beginReload() else { return .failure(.stopping) }
        reporter?.check()
        let logger = options.logger
        logger.info("The config is read anew")
        let result: Result<ReloadReport, Failure>
        do throws(Failure) {
            let report = try await reloadOnce()
            logger.notice("The config was reloaded: \(report.summary)")
            result = .success(report)
        } catch {
            let failure = Failure(
                error.kind, error.message, hint: "Nothing was changed, and the host goes on as before")
            logger.error(
                "The config was not reloaded: \(failure.message)",
                metadata: failure.hint.map { ["hint": .stringConvertible($0)] })
            result = .failure(failure)
        }
        endReload()
        reporter?.check()
        return result
    }

    private func reloadOnce() async throws(Failure) -> ReloadReport {
        let options = options
        let (config, accounts, process) = try await global.openPlugins(
            console, for: .reload, options: { _ in options },
            choosing: { config throws(Failure) in try config.namedAccounts() })
        let reports = await process.pluginReports()
        if let lacking = reports.first(where: \.isForLack) {
            try await process.close()
            throw Failure(.localIO, "the plugin \(lacking.id) cannot be opened now: \(lacking.reason ?? "")")
        }
        let generation = Generation(process, reports)
        guard let commit = commit(config, accounts, generation) else {
            generation.retire()
            _ = await generation.closeIfUnused()
            throw .stopping
        }
        for warning in config.warnings { options.logger.warning("\(warning)") }
        for failure in await commit.retired.closeIfUnused() { add(failure) }
        var report = ReloadReport(commit.plan)
        await untilOpened(commit.opening, within: config.settings.shutdownTimeout)
        report.troubles = commit.opening.compactMap { account in
            account.trouble.map { .init(account: account.name, message: $0) }
        }
        return report
    }

    /// Waits until all accounts were opened, or at most for a time.
    private func untilOpened(_ accounts: [HostedAccount], within limit: Duration) async {
        await withTaskGroup { [clock = options.clock] group in
            group.addTask {
                do { try await clock.sleep(limit) } catch {}
            }
            group.addTask {
                for account in accounts {
                    do { try await account.untilOpened() } catch { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }
}

extension HostedAccount {
    /// Why the account does not work, as one line; nil if it works.
    fileprivate var trouble: String? {
        switch phase {
        case .atWork: nil
        case .waiting(let failure): Text.shortened(failure.message, to: 200)
        case .opening: "it is being opened"
        case .closing: "it is not open yet"
        case .ended: Text.shortened(failure?.message ?? "it has ended", to: 200)
        }
    }
}

extension Failure {
    /// The failure for a request to a host that stops.
    static let stopping = Failure(.failed, "the host is stopping", hint: "try again when it runs")
}

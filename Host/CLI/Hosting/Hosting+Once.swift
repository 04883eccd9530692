import Core
import Model

/// `run --once`.
extension Hosting {
    /// Brings an account up to date once.
    func workOnce(_ account: HostedAccount) async throws(Failure) {
        let clock = ContinuousClock()
        let began = clock.now
        let host = try await open(account)
        account.enter(.atWork(host))
        let left = timeout.map { max($0 - began.duration(to: clock.now), .zero) }
        let outcome = await account.untilStopped { await host.runOnce(timeout: left) }
        report(outcome, of: account.name)
        account.enter(.closing)
        try await host.close()
    }

    /// Opens an account for `run --once` within the time limit of the run, because a plugin may take long to start. Waits
    /// while a command has the vault open.
    private func open(_ account: HostedAccount) async throws(Failure) -> AccountHost {
        let (config, process, timeout, console) = (account.config, account.generation.process, timeout, console)
        let result = await account.untilStopped { () async -> Result<AccountHost, Failure> in
            let opening = Task { () async -> Result<AccountHost, Failure> in
                var waiting = VaultWait(console, clock: process.options.clock)
                do throws(Failure) {
                    while true {
                        while try await waiting.goesOnForCommand(with: config) {}
                        do throws(Failure) {
                            return .success(
                                try await process.open(config.bookmark) { () async throws(Failure) in
                                    try await config.readSecret()
                                })
                        } catch {
                            // Another command may have come before.
                            guard error.kind == .vaultLocked, try await waiting.goesOnForCommand(with: config) else {
                                throw error
                            }
                        }
                    }
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

    private func report(_ outcome: RunOutcome, of account: String) {
        for failure in outcome.failures { add(failure) }
        for issue in outcome.issues { add(Failure(issue)) }
        if outcome.leftCount > outcome.left.count {
            let more = outcome.leftCount - outcome.left.count
            add(Failure(.failed, "\(account): \(more) more files are left", hint: "`larder sync list` lists all"))
        }
        if global.isJSON {
            console.print(JSONValue(outcome, account: account))
        } else {
            console.print("\(account): \(outcome.summary)")
        }
    }
}

import Connection
import EventLoops
import ItemPolicies
import Logging
public import Model
import Storage
import SyncEngine

extension AccountHost {
    /// Keeps the account up to date until the task is cancelled: then it stops gracefully, and returns.
    /// - Throws: what makes going on impossible, such as a database that cannot be written, or a folder of local copies that
    ///   has gone.
    public func run() async throws(Failure) {
        do {
            // Watched first: what is done in the tree while everything is compared is not missed.
            let watch = try await TreeWatch(self)
            let result = await work(watch)
            await watch.end()
            try result.get()
        } catch is CancellationError {
            return
        } catch {
            throw Failure(of: error)
        }
    }

    private func work(_ watch: TreeWatch) async -> Result<Void, any Error> {
        do {
            watch.look(at: try await recover())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [policies] in await policies.run() }
                group.addTask { [process] in await process.watchPlugins() }
                group.addTask { [engine] in try await engine.run() }
                group.addTask { [self] in try await poll() }
                group.addTask { try await watch.run() }
                group.addTask { [loops] in await loops.run() }
                group.addTask { [self] in await heedHints() }
                group.addTask { [self] in try await keepCalendarFiles() }
                group.addTask { [self] in try await keepPolicyHistory() }
                defer { group.cancelAll() }
                // Each of them ends only when the task is cancelled, or when it cannot go on.
                try await group.next()
            }
            await loops.suspend()
            await writePolicyHistory()
            return .success(())
        } catch {
            await loops.suspend()
            return .failure(error)
        }
    }

    /// Asks the server for news, again and again.
    private func poll() async throws {
        var facts: ServerFacts?
        var wish: Duration?
        while true {
            try Task.checkCancellation()
            var mayAsk = !state.isRefused
            if !mayAsk { mayAsk = await hasNewCredentials() }
            guard mayAsk else {
                // Whoever was refused, nobody asks; with new credentials everything begins anew.
                if facts != nil {
                    facts = nil
                    await loops.suspend()
                    try await setOffline()
                }
                try await passTime()
                try await wait(PollInterval.standard)
                continue
            }
            var etagsTell = false
            do {
                var (root, listing): (ListedItem?, RootListing?)
                if facts == nil {
                    let found: ServerFacts
                    (found, listing) = try await connect(toScan: true)
                    (facts, root) = (found, found.rootItem)
                    try await engine.accountChanged()
                    if found.isOwnCloudFamily { wish = try await connection.pollWish() }
                    await loops.start()
                }
                if let found = facts {
                    let history = try await database.read { try $0.scanHistory() }
                    etagsTell = found.isOwnCloudFamily && !history.etagsWereWrong
                    let scan = try await scan(found, root: root, listing: listing, whole: !etagsTell)
                    if !scan.isComplete { throw IncompleteScan() }
                    // Without files no listing tells whether the server is there.
                    if !found.hasFiles { facts = nil }
                }
            } catch is IncompleteScan {
                // Its failures are in the log. The server is looked for anew, soon.
                (facts, etagsTell) = (nil, true)
                try await passTime()
            } catch let error as ConnectionError {
                logger.warning("\(error)")
                (facts, etagsTell) = (nil, true)
                await loops.suspend()
                try await passTime()
            }
            try await wait(
                etagsTell ? PollInterval.next(configured: settings.poll, serverWish: wish) : settings.walk)
        }
    }

    private struct IncompleteScan: Error {}

    private func wait(_ interval: Duration) async throws {
        let next = clock.now() + interval
        try await database.write { try $0.setMeta(.nextPoll, .integer(next.nanoseconds)) }
        let began = clock.monotonic()
        let isEarly = try await withThrowingTaskGroup(of: Bool.self) { [clock, state] group in
            group.addTask {
                try await clock.sleep(interval)
                return false
            }
            group.addTask {
                await state.looks.wait()
                return true
            }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
        // A server that announces much is asked once a second.
        let rest = min(interval, .seconds(1)) - (clock.monotonic() - began)
        if isEarly, rest > .zero { try await clock.sleep(rest) }
    }

    /// After a refusal nothing is asked before the secret is another: a wrong one that is sent again and again locks an account.
    private func hasNewCredentials() async -> Bool {
        do {
            let secret = try await credentials()
            guard state.renew(secret) else { return false }
            connection.use(secret)
            return true
        } catch {
            logger.warning("\(error)")
            return false
        }
    }
}

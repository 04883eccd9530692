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
import Threads
import Vault

extension AccountHost {
    /// Keeps the account up to date until the task is cancelled; then stops gracefully and returns.
    /// - Throws: An error that makes going on impossible: `.localIO` if the database cannot be written or is damaged,
    ///   or if the folder of local copies is gone; `.failed` if a call into a plugin hangs for too long.
    public func run() async throws(Failure) {
        await work.begin()
        do {
            // The watch begins first, so that changes in the tree during the comparison are not missed.
            let watch = try await TreeWatch(self)
            let result = await work(watch)
            await watch.end()
            await endWork()
            try result.get()
        } catch is CancellationError {
            return await endWork()
        } catch {
            await endWork()
            throw Failure(of: error)
        }
    }

    /// Ends the commands that use the run. The next run tells the processors of changes of policies that this run did
    /// not tell them of. While the clock is not believed, the next process counts the time on from here.
    func endWork() async {
        work.end()
        let system = process.options.clock
        let passed = state.clock.passedUnbelieved(system.now(), system.monotonic())
        let owes = policies.owesPolicies
        guard owes || passed != nil else { return }
        do {
            try await Task(executorPreference: Workplace.single) { [database] in
                try await database.write { tx in
                    if owes { try tx.meta.set(.policiesChanged, 1) }
                    if let passed { try tx.meta.set(.clockPassed, passed.nanoseconds) }
                }
            }.value
        } catch { logger.warning("\(error)") }
    }

    private func work(_ watch: TreeWatch) async -> Result<Void, any Error> {
        do {
            try await restorePause()
            watch.recheck(try await recover())
            let end = try await database.read { try $0.meta.json(HeldLibraries.self, .heldLibraries) }?.nextEnd(
                after: clock.now())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [policies] in await policies.run() }
                group.addTask { [self] in await process.watchPlugins { self.heedSleep($0) } }
                group.addTask { [engine, partners] in try await engine.run(with: partners) }
                group.addTask { [self] in try await useServer() }
                group.addTask { try await watch.run() }
                group.addTask { await watch.keepChecking() }
                group.addTask { [loops] in await loops.run() }
                group.addTask { [queries] in await queries.run() }
                group.addTask { [self] in try await followSecret() }
                group.addTask { [self] in try await followMoves() }
                group.addTask { [self] in try await keepCalendarFiles() }
                group.addTask { [self] in try await keepPolicyHistory() }
                group.addTask { [self] in try await keepBackups() }
                group.addTask { [self] in try await keepPluginNotes() }
                group.addTask { [self] in try await keepLogBounded() }
                group.addTask { [state] in await state.reopenings.wait() }
                if let end { group.addTask { [self] in try await waitForLeftOut(until: end) } }
                work.began()
                defer { group.cancelAll() }
                // Each task ends only when it is cancelled or cannot go on.
                do { try await group.next() } catch {
                    work.end(because: error is CancellationError ? nil : Failure(of: error))
                    throw error
                }
                work.end()
            }
            await loops.suspend()
            await writePolicyHistory()
            return .success(())
        } catch {
            await loops.suspend()
            return .failure(error)
        }
    }

    /// Lets the tree follow the moves that plugins request, until the task is cancelled.
    private func followMoves() async throws {
        while true {
            await state.treeMoves.wait()
            try Task.checkCancellation()
            try await list.carryOutMoves()
        }
    }
}

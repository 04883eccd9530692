import Database
import LocalTree
import Logging
import Model
import SyncEngine
import Threads
import Warehouse

extension AccountHost {
    /// Changes policies for the person whose commands are carried out. Processors learn of the change in the next run,
    /// whichever process makes it.
    func changingPolicies<T: Sendable>(
        _ change: @escaping @Sendable (Transaction, PolicyAuthor) throws -> T
    ) async throws(Failure) -> T {
        let author = await author()
        let result = try await failing { [self] in
            try await database.write { tx in
                let result = try change(tx, author)
                // A run in progress hears of the change from the database.
                if self.work.isIdle { try tx.meta.set(.policiesChanged, 1) }
                return result
            }
        }
        await writePolicyHistory()
        return result
    }

    func author() async -> PolicyAuthor {
        .person(await runBlocking(process.options.person), at: clock.now())
    }

    /// Writes the history steps of the changed policies. If that fails, the log says so; the changes stand, and the
    /// next call writes their steps.
    /// - Returns: Whether the steps were written.
    @discardableResult
    func writePolicyHistory() async -> Bool {
        do {
            try await history.flush()
            return true
        } catch {
            let stands = Advice.text("the change is kept, and a later run adds it to the history")
            let hint = error.hint.map { .both($0, stands) } ?? stands
            logger.warning("\(error.message)", metadata: ["hint": .stringConvertible(hint)])
            return false
        }
    }

    /// Writes the history steps of all changes as they are made, until the task is cancelled.
    func keepPolicyHistory() async throws {
        while true {
            try Task.checkCancellation()
            if await writePolicyHistory() {
                await state.policyChanges.wait()
            } else {
                try await clock.sleep(.seconds(60))
            }
        }
    }
}

import Database
import LocalTree
import Logging
public import Model
import SyncEngine
import Threads
import Warehouse

/// What undoing or redoing came to.
public struct PolicyMoveOutcome: Sendable {
    /// The step that was undone or redone, as the history has it now.
    public var step: PolicyHistoryStep
    /// Policies that were to be removed and were gone already.
    public var gone: [ItemPolicy]
}

extension AccountHost {
    /// Takes back the last change of policies that is applied, or does the next one again; quiet ones are passed over.
    /// - Throws: `.badData` if there is none, or if the policies were changed since so that it cannot be done; `.localIO` if the
    ///   history cannot be written.
    public func movePolicies(_ direction: PolicyMove.Direction) async throws(Failure) -> PolicyMoveOutcome {
        let author = await author()
        while true {
            try await history.flush()
            guard let target = try await history.next(direction) else {
                throw Failure(
                    .badData, "there is nothing to \(direction.rawValue)",
                    hint: "`larder policy history` shows what was done")
            }
            let move = PolicyMove(
                direction, step: target.id.description, last: target.last.description, author: author)
            let gone: [ItemPolicy]? = try await failing { [self] in
                try await database.write { tx in
                    // Somebody changes policies at this moment: then another step may be the last one.
                    guard try tx.policies.changeCount() == 0 else { return nil }
                    let gone = try tx.policies.carryOut(move, of: target.step, later: target.later)
                    try tx.meta.set(.policiesChanged, 1)
                    return gone
                }
            }
            guard let gone else { continue }
            await writePolicyHistory()
            let step = PolicyHistoryStep(
                id: target.id.description, step: target.step, isApplied: direction == .redo)
            return PolicyMoveOutcome(step: step, gone: gone)
        }
    }

    /// Changes policies for the person whose commands are carried out. Processors hear of it in the next run, whoever makes it.
    func changingPolicies<T: Sendable>(
        _ change: @escaping @Sendable (Transaction, PolicyAuthor) throws -> T
    ) async throws(Failure) -> T {
        let author = await author()
        let result = try await failing { [self] in
            try await database.write { tx in
                let result = try change(tx, author)
                try tx.meta.set(.policiesChanged, 1)
                return result
            }
        }
        await writePolicyHistory()
        return result
    }

    private func author() async -> PolicyAuthor {
        .person(await runBlocking(process.options.person), at: clock.now())
    }

    /// Writes the steps of what was changed. If that fails, the log says so: the changes stand, and the next call writes their steps.
    @discardableResult
    func writePolicyHistory() async -> Bool {
        do {
            try await history.flush()
            return true
        } catch {
            logger.warning(
                "\(error.message)",
                metadata: [
                    "hint":
                        "\(error.hint.map { "\($0); " } ?? "")what was changed stands, and a later run writes it down"
                ])
            return false
        }
    }

    /// Writes the steps of all changes that are made, until the task is cancelled.
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

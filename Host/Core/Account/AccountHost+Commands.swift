import Database
import EventLoops
import ItemList
public import Model
import SyncEngine
import Vault

/// What a person asks of an account.
extension AccountHost {
    /// Makes an item available offline.
    ///
    /// Before the account was ever scanned any path is accepted; afterwards it must be known.
    /// - Throws: `.badData` if policies cover the item already, `.notFound` if nothing is known at the path.
    public func pin(_ path: ItemPath) async throws(Failure) -> PinOutcome {
        try await changingPolicies { tx, author in try tx.pin(path, by: author) }
    }

    /// Ends what pinning the item began.
    /// - Returns: the policies that were removed.
    /// - Throws: `.badData` if the item is covered by a policy for something else, `.notFound` if no policy covers it.
    public func unpin(_ path: ItemPath) async throws(Failure) -> [ItemPolicy] {
        try await changingPolicies { tx, author in try tx.unpin(path, by: author) }
    }

    /// Takes a record out of the journal, and takes back what was done for it.
    /// - Throws: `.notFound` if there is none.
    public func cancel(record: Int64) async throws(Failure) {
        try await failing { try await self.engine.cancel(record) }
    }

    /// Lets a record that waits or failed go on.
    /// - Throws: `.notFound` if there is none.
    public func retry(record: Int64) async throws(Failure) {
        try await failing { try await self.engine.retry(record) }
    }

    /// Answers an issue.
    /// - Parameter choice: the id of one of its choices.
    /// - Throws: `.notFound` if there is no such issue, `.badData` if it has no such choice.
    public func resolve(issue id: Int64, choice: String) async throws(Failure) {
        try await failing {
            guard try await !self.engine.resolve(id, choice: choice), try await !self.decideRemovals(id, choice),
                try await !self.dismissKept(id, choice), try await !self.loops.resolve(issue: id, choice: choice)
            else { return }
            throw Failure(
                .badData, "Issue \(id) has no choices",
                hint: "It goes by itself with the scan that finds its cause gone")
        }
    }

    /// - Returns: false if the issue is about something else.
    private func decideRemovals(_ id: Int64, _ choice: String) async throws -> Bool {
        let now = clock.now()
        let isOurs = try await database.write { tx in
            guard let issue = try tx.issues.issue(id: id), issue.code == MassRemoval.code else { return false }
            return try tx.decideRemovals(issue, choice, at: now)
        }
        if isOurs { state.oweTrigger() }
        return isOurs
    }

    /// Takes an issue about a calendar's file that was changed here off the list.
    /// - Returns: false if the issue is about something else.
    private func dismissKept(_ id: Int64, _ choice: String) async throws -> Bool {
        try await database.write { tx in
            guard let issue = try tx.issues.issue(id: id), issue.code == CalendarMirror.keptCode else { return false }
            guard issue.choices.contains(where: { $0.id == choice }) else {
                throw Failure(
                    .badData, "\(choice) is no choice of issue \(id)",
                    hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
            }
            return try tx.issues.remove(id: id)
        }
    }

    func failing<T: Sendable>(_ body: @Sendable () async throws -> T) async throws(Failure) -> T {
        do { return try await body() } catch { throw Failure(of: error) }
    }
}

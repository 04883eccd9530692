import Database
import EventLoops
import ItemList
public import Model
import SyncEngine
import Vault

/// Commands about issues, which wait for a person's decision.
public enum Issues {
    /// Answers an issue.
    /// - Throws: `.notFound` if there is no such issue, `.badData` if the issue has no such choice.
    public struct Answer: AccountCommand {
        /// The id of the issue.
        public var id: IssueID
        /// The id of one of the issue's choices.
        public var choice: String

        /// Creates the command.
        public init(_ id: IssueID, choice: String) { (self.id, self.choice) = (id, choice) }

        public func carryOut(for host: AccountHost) async throws(Failure) {
            try await host.failing {
                guard try await !host.engine.resolve(id, choice: choice), try await !decideRemovals(host),
                    try await !dismissKept(host), try await !host.loops.resolve(issue: id, choice: choice)
                else { return }
                throw Failure(
                    .badData, "Issue \(id) has no choices",
                    hint: "The issue is removed by the scan that finds its cause gone")
            }
        }

        /// Decides the removals that an issue is about.
        /// - Returns: False if the issue is about something else.
        private func decideRemovals(_ host: AccountHost) async throws -> Bool {
            let now = host.clock.now()
            let isOurs = try await host.database.write { tx in
                guard let issue = try tx.issues.issue(id: id), issue.code == MassRemoval.code else { return false }
                return try tx.decideRemovals(issue, choice, at: now)
            }
            if isOurs { host.state.oweTrigger() }
            return isOurs
        }

        /// Removes an issue about a calendar's file that was changed locally.
        /// - Returns: False if the issue is about something else.
        private func dismissKept(_ host: AccountHost) async throws -> Bool {
            try await host.database.write { tx in
                guard let issue = try tx.issues.issue(id: id), issue.code == CalendarMirror.keptCode else {
                    return false
                }
                guard issue.choices.contains(where: { $0.id == choice }) else {
                    throw Failure(
                        .badData, "\(choice) is not a choice of issue \(id)",
                        hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
                }
                return try tx.issues.remove(id: id)
            }
        }
    }
}

import Database
import EventLoops
import ItemList
public import Model
import SyncEngine
import Threads
import Vault

/// Commands about issues, which wait for a person's decision.
public enum Issues {
    /// Answers an issue, or all issues with one code.
    /// - Throws: For one issue: `.notFound` if there is no such issue, `.badData` if the issue has no such choice. For
    ///   the issues with one code, the answer tells this for each of them.
    public struct Answer: AccountCommand {
        public static let name = "issue-answer"

        /// The issues to answer.
        public enum Target: Codable, Hashable, Sendable {
            case issue(IssueID)
            case all(code: String)
        }

        /// The issues to answer.
        public var target: Target
        /// The id of one of the issues' choices.
        public var choice: String

        /// Creates the command for one issue.
        public init(_ id: IssueID, choice: String) { (target, self.choice) = (.issue(id), choice) }

        /// Creates the command for all issues with one code.
        public init(allWith code: String, choice: String) { (target, self.choice) = (.all(code: code), choice) }

        public func carryOut(for host: AccountHost) async throws(Failure) -> [IssueAnswer] {
            switch target {
            case .issue(let id):
                try await answer(id, host)
                return [IssueAnswer(id: id)]
            case .all(let code):
                let ids = try await host.failing { try await host.database.read { try $0.issues.all(code: code) } }
                    .map(\.id)
                var answers: [IssueAnswer] = []
                for id in ids {
                    do throws(Failure) {
                        try await answer(id, host)
                        answers.append(IssueAnswer(id: id))
                    } catch {
                        // It may have gone with what an answer before it has taken back.
                        let isLeft = try await host.failing {
                            try await host.database.read { try $0.issues.issue(id: id) != nil }
                        }
                        answers.append(IssueAnswer(id: id, failure: error.kind == .notFound && !isLeft ? nil : error))
                    }
                }
                return answers
            }
        }

        private func answer(_ id: IssueID, _ host: AccountHost) async throws(Failure) {
            try await host.failing {
                if try await host.engine.resolve(id, choice: choice) {
                    // A move that is taken back moves the copies back.
                    return try await host.list.carryOutMoves()
                }
                guard try await !decideRemovals(id, host),
                    try await !dismissKept(id, host), try await !host.answerApproval(id, choice),
                    try await !host.loops.resolve(issue: id, choice: choice)
                else { return }
                throw Failure(
                    .badData, "Issue \(id) has no choices",
                    hint: "The issue is removed by the scan that finds its cause gone")
            }
        }

        /// Decides the removals that an issue is about.
        /// - Returns: False if the issue is about something else.
        private func decideRemovals(_ id: IssueID, _ host: AccountHost) async throws -> Bool {
            let now = host.clock.now()
            let isOurs = try await host.database.write { tx in
                guard let issue = try tx.issues.issue(id: id), issue.code == MassRemoval.code else { return false }
                return try tx.decideRemovals(issue, choice, at: now)
            }
            if isOurs {
                host.state.oweTrigger()
                // A run in progress carries out what follows, and tells the processors.
                host.tell { $0.call(for: .everything) }
            }
            return isOurs
        }

        /// Removes an issue about a calendar's file that was changed locally.
        /// - Returns: False if the issue is about something else.
        private func dismissKept(_ id: IssueID, _ host: AccountHost) async throws -> Bool {
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

/// The result of answering one issue.
public struct IssueAnswer: Codable, Sendable {
    /// The id of the issue.
    public var id: IssueID
    /// The reason why the issue was not answered; nil if it was.
    public var failure: Failure?
}

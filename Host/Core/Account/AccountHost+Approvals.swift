import Connection
import Database
import ItemList
import Logging
import Model
import SyncEngine
import Threads

/// What a person approves and rejects about the account's server.
extension AccountHost {
    /// Notes that something about the server was not approved: one issue asks, and the status says why. If a person rejected it, no issue asks again.
    /// - Parameters:
    ///   - error: The error of the kind `unapproved`, which the session was told.
    ///   - isNews: Whether the log is to say it.
    ///   - next: The time of the next attempt; nil if it is not known.
    func noteUnapproved(_ error: ConnectionError, isNews: Bool, nextTry next: Timestamp? = nil) async throws {
        guard let approval = error.approval else { return }
        let now = clock.now()
        try await database.write { tx in
            try tx.removeApprovalIssues(except: error.isRejected ? nil : approval)
            if !error.isRejected { try tx.issues.file(Issue(approval, error.message, at: now)) }
            let since = try tx.meta.json(AuthenticationFailure.self, .refusal)?.since ?? now
            try tx.meta.set(.refusal, json: AuthenticationFailure(message: error.message, since: since, nextTry: next))
        }
        if isNews { logger.error("\(error.message)") }
    }

    /// Takes a person's answer to an issue about the server.
    /// - Returns: False if the issue is about something else.
    /// - Throws: `.badData` if the issue has no such choice.
    func answerApproval(_ id: IssueID, _ choice: String) async throws -> Bool {
        let answers = try await database.write { tx -> Approvals? in
            guard let issue = try tx.issues.issue(id: id), let kind = Approval.Kind(rawValue: issue.code) else {
                return nil
            }
            guard issue.choices.contains(where: { $0.id == choice }) else {
                throw Failure(
                    .badData, "\(choice) is not a choice of issue \(id)",
                    hint: "The choices are: " + issue.choices.map(\.id).joined(separator: ", "))
            }
            let isApproved = choice == Issue.approval.id
            try tx.issues.remove(id: id)
            if isApproved { try tx.meta.clear(.refusal) }
            return try tx.changeApprovals { $0.answer(Approval(kind, issue.subject), approves: isApproved) }
        }
        guard let answers else { return false }
        connection.heed(answers)
        tell {
            $0.answer()
            $0.call(for: .everything)
        }
        return true
    }

    /// Notes what a person approved without being asked by an issue.
    func approve(_ approvals: [Approval]) async throws {
        let answers = try await database.write { tx in
            try tx.changeApprovals { answers in for approval in approvals { answers.answer(approval, approves: true) } }
        }
        connection.heed(answers)
    }

    /// Forgets what a person rejected, so that it is asked again.
    func forgetRejections() async throws {
        connection.heed(try await database.write { try $0.changeApprovals { $0.forgetRejections() } })
    }
}

extension Database {
    /// Returns a person's answers about the account's server. An account that finished a scan before such questions
    /// were asked goes on with what it uses.
    func approvals(of bookmark: Bookmark) async throws -> Approvals {
        try await write { tx in
            if let known = try tx.meta.json(Approvals.self, .approvals) { return known }
            let answers =
                try tx.scanHistory().lastScan == nil
                ? Approvals() : .ofWorking(bookmark, try tx.meta.json(KnownServer.self, .server))
            try tx.meta.set(.approvals, json: answers)
            return answers
        }
    }
}

extension Transaction {
    fileprivate func changeApprovals(_ change: (inout Approvals) -> Void) throws -> Approvals {
        var answers = try meta.json(Approvals.self, .approvals) ?? Approvals()
        change(&answers)
        try meta.set(.approvals, json: answers)
        return answers
    }

    /// Removes the issues that ask for an approval: what they ask is settled or no longer so.
    func removeApprovalIssues(except kept: Approval? = nil) throws {
        for kind in Approval.Kind.allCases {
            for issue in try issues.all(code: kind.rawValue) where Approval(kind, issue.subject) != kept {
                try issues.remove(id: issue.id)
            }
        }
    }
}

extension Issue {
    static let approval = Choice(id: "approve", label: "Go on, from now on without asking", impact: .nonDestructive)

    /// Creates the issue that asks for an approval.
    fileprivate init(_ approval: Approval, _ message: String, at time: Timestamp) {
        self.init(
            code: approval.kind.rawValue, subject: approval.subject, message: message,
            choices: [
                Self.approval,
                Choice(id: "reject", label: "Do not use the account so", impact: .nonDestructive),
            ], created: time, failure: .denied)
    }
}

extension MetaKey {
    /// A person's answers about the account's server.
    static let approvals = MetaKey("approvals")
}

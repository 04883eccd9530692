import Connection
import Database
public import Model

/// Commands about the account itself.
public enum Accounts {
    /// Tries the login at once.
    /// - Throws: The reason why the account cannot be used, except for something that a person has to approve.
    public struct Verify: AccountCommand {
        public static let name = "account-verify"

        /// Whether what was rejected before is asked again.
        public var asksAgain: Bool

        /// Creates the command.
        public init(asksAgain: Bool) { self.asksAgain = asksAgain }

        public func carryOut(for host: AccountHost) async throws(Failure) -> AccountFinding {
            try await host.failing {
                if asksAgain { try await host.forgetRejections() }
                let unapproved: ConnectionError? = try await host.work.turn {
                    do {
                        _ = try await host.connect()
                        return nil
                    } catch let error as ConnectionError where error.approval != nil && !error.isRejected {
                        return error
                    }
                } atWork: {
                    let unreached = try await host.poll(retries: true).unreached
                    if let error = host.session.rejection?.unapproved, !error.isRejected { return error }
                    if let unreached { throw unreached }
                    return nil
                }
                if let unapproved {
                    guard let issue = try await issue(about: unapproved, host) else { throw unapproved }
                    return .asks(issue)
                }
                return .works(host.connection.known.map(ServerReport.init))
            }
        }

        private func issue(about error: ConnectionError, _ host: AccountHost) async throws -> Issue? {
            guard let approval = error.approval else { return nil }
            return try await host.database.read {
                try $0.issues.issue(code: approval.kind.rawValue, subject: approval.subject)
            }
        }
    }

    /// Approves something about the server before it was asked for, as a person did who added the account.
    public struct Approve: AccountCommand {
        public static let name = "account-approve"

        /// What is approved.
        public var approvals: [Approval]

        /// Creates the command.
        public init(_ approvals: [Approval]) { self.approvals = approvals }

        public func carryOut(for host: AccountHost) async throws(Failure) -> Done {
            try await host.failing { try await host.approve(approvals) }
            return Done()
        }
    }
}

/// What an attempt to log in found.
public enum AccountFinding: Codable, Sendable {
    /// The login works. The report is nil if nothing is known of the server.
    case works(ServerReport?)
    /// The issue waits for a person before credentials are sent.
    case asks(Issue)
}

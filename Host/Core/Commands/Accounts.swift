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
                do {
                    _ = try await host.connect()
                } catch let error as ConnectionError {
                    guard let approval = error.approval, !error.isRejected else { throw error }
                    let issue = try await host.database.read {
                        try $0.issues.issue(code: approval.kind.rawValue, subject: approval.subject)
                    }
                    guard let issue else { throw error }
                    return .asks(issue)
                }
                return .works(host.connection.known.map(ServerReport.init))
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

/// Something about an account's server that a person has to approve before the server gets the account's credentials.
public struct Approval: Codable, Hashable, Sendable {
    /// What is to be approved. The raw value is the code of the issue that asks.
    public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        /// Requests without TLS to another machine. The subject is the server's origin.
        case plainHTTP = "connection.plain-http"
        /// A server of an old version. The subject is the server's origin, a space, and product and version.
        case oldVersion = "connection.old-version"
        /// A redirect to another server. The subject is the address of a folder, a space, and the address to which that
        /// folder is redirected.
        case redirect = "connection.redirect"
        /// The public key of a server whose key is pinned. The subject is the server's origin, a space, and the SHA-256
        /// of the key.
        case key = "connection.key"
    }

    /// What is to be approved.
    public var kind: Kind
    /// The subject, as ``Kind`` describes it. It is the subject of the issue, too.
    public var subject: String

    /// Creates an approval.
    public init(_ kind: Kind, _ subject: String) { (self.kind, self.subject) = (kind, subject) }
}

/// A person's answers about an account's server.
public struct Approvals: Codable, Hashable, Sendable {
    /// What was approved, in the order of the answers.
    public private(set) var approved: [Approval]
    /// What was rejected, in the order of the answers.
    public private(set) var rejected: [Approval] = []

    /// Creates answers.
    /// - Parameter approved: What was approved.
    public init(approved: [Approval] = []) { self.approved = approved }

    /// Notes an answer, which replaces an earlier one to the same question.
    public mutating func answer(_ approval: Approval, approves: Bool) {
        approved.removeAll { $0 == approval }
        rejected.removeAll { $0 == approval }
        if approves { approved.append(approval) } else { rejected.append(approval) }
    }

    /// Forgets what was rejected, so that it is asked again.
    public mutating func forgetRejections() { rejected = [] }
}

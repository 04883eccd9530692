public import Model

/// The person or plugin that requests a change of the server.
public struct ChangeRequester: Hashable, Sendable {
    /// The requester's name: `user` or a plugin's id.
    public var reason: DownloadTrigger
    /// The idempotency key: while a request with the same reason and key is under way, another one does nothing.
    public var key: String?
    /// The issue that a deletion waits for; nil if it goes on at once.
    public var issue: IssueID?

    /// A person.
    public static let user = ChangeRequester(.user)

    /// Creates a requester.
    public init(_ reason: DownloadTrigger, key: String? = nil, issue: IssueID? = nil) {
        (self.reason, self.key, self.issue) = (reason, key, issue)
    }
}

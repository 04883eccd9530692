public import Model

/// What is left after the engine has done what it could do at once.
public struct DrainOutcome: Sendable {
    /// A record that did not go on.
    public struct Left: Hashable, Sendable {
        public var record: SyncRecordID
        public var path: ItemPath
        /// Why, in one sentence without a full stop.
        public var why: String
        /// The exit code's class that it stands for.
        public var failure: Failure.Kind
        /// The issue that it waits for, if it does.
        public var issue: IssueID?

        public init(record: SyncRecordID, path: ItemPath, why: String, failure: Failure.Kind, issue: IssueID? = nil) {
            self.record = record
            self.path = path
            self.why = why
            self.failure = failure
            self.issue = issue
        }
    }

    /// How many are named.
    static let mostNamed = 100

    /// The first hundred, in the journal's order.
    public var left: [Left] = []
    /// All of them.
    public var leftCount = 0
    /// What holds up everything: the server is not reachable or takes no password, the disk is full.
    public var failure: Failure?

    /// The server is not connected: what needs it was not tried.
    public var isOffline = false

    public init() {}

    public var isDone: Bool { leftCount == 0 && failure == nil }
}
